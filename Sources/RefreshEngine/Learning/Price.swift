/// How a machine that is over its budget, or an app that takes far more than its share, makes refreshes dearer.
enum Price {
  /// The highest factor of the price, and of an app.
  static let mostFactor: Float = 1024
  /// A factor changes within these bounds in a night: it falls faster than it rises, so that a week after a rush it is
  /// gone.
  static let leap: ClosedRange<Float> = 0.25...2
  /// Budgets of an app above which it pays more itself.
  static let mostShares = 3.0
  /// Budgets of an app up to which it counts against the budget of the machine, so that one app alone can hardly make
  /// refreshes dearer for the others.
  static let countedShares = 1.5

  /// The factor after a day that took `over` times its budget; never below 1, so that nothing winds up.
  static func step(_ factor: Float, over: Double) -> Float {
    min(max(factor * min(max(Float(over), leap.lowerBound), leap.upperBound), 1), mostFactor)
  }
}

/// The background refreshes of an app took a part of the budget, and the app pays for that.
struct Spending: Hashable, Sendable {
  /// Refreshes since the last night; a long one, or one of many metered bytes, counts as several.
  var today: Float = 0
  /// Refreshes a day; each day counts for two thirds.
  var mean: Float = 0
  /// How many times the price the app pays: 1, and more while it takes more than the machine can allow.
  var factor: Float = 1
  /// Whether the refresh that is planned is made because the data is as old as it may be, and so is not charged.
  var isForced = false

  /// Refreshes a day, with those of the day that ends.
  var meanTonight: Float { (mean + 2 * today) / 3 }

  /// Ends a day: the factor rises or falls as the app took more or less than `most`.
  mutating func passNight(most: Double) {
    mean = meanTonight
    today = 0
    factor = Price.step(factor, over: Double(mean) / most)
  }
}
