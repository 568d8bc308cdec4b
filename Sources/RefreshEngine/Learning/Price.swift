import CMath

/// How the price follows the budget.
enum Price {
  /// The least price, in minutes of age: the user does not notice a lower age, however much of the budget is left.
  static let least = 0.125
  /// The highest price, in minutes of age: a year.
  static let most = 525_600.0
  /// The price changes by at most this factor in a night.
  static let leap = 2.0
  /// The least power of a correction, in force once the machine is known.
  static let leastPower = 0.25

  /// The factor by which the price changes after a day.
  static func step(_ spent: Spending, budget: Budget, refreshes: Double, night: Int) -> Double {
    let run = spent.runSeconds / Budget.secondsPerRefresh
    var over = (max(Double(spent.refreshes), run) + 1) / (refreshes + 1)
    over = max(over, (spent.meteredBytes + 1) / (budget.meteredBytesPerDay + 1))
    return pow(min(max(over, 1 / leap), leap), max(leastPower, 1 / (1 + Double(night) / 2)))
  }
}

extension Engine {
  /// How many times dearer a refresh is while a power-saver profile is on.
  private static let saverFactor = 4.0

  /// The learnings of the machine, with the price that is in force.
  var learningsInForce: Learnings {
    var learnings = device.learnings
    if limits.powerSaver == .dearer, conditions.powerSaver.value == true { learnings.price *= Self.saverFactor }
    return learnings
  }
}
