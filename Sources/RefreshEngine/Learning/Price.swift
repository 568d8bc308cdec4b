/// What a refresh must spare, and how a machine that is over its budget makes that more.
enum Price {
  /// The price of a profile is this by the square of its refreshes an app and day, in minutes of age.
  ///
  /// Measured on the generated fleets: at this price they take about what the profile has.
  static let scale = 300.0
  /// The highest factor of an app that took more than it may.
  static let mostFactor: Float = 1024
  /// A factor changes within these bounds in a night: it falls faster than it rises, so that a week after a rush it is
  /// gone.
  static let leap: ClosedRange<Float> = 0.25...2
  /// How much the allowance shrinks and grows in a night at most.
  static let shrinkage = 0.5
  static let growth = 1.5
  /// The highest allowance, in budgets of an app.
  static let mostShares = 64.0
}

/// What the background refreshes of an app took of the budget, and what it pays for that.
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

  /// Ends a day: the factor rises or falls as the app took more or less than its allowance.
  mutating func passNight(allowance: Double) {
    mean = meanTonight
    today = 0
    let over = min(max(mean / Float(allowance), Price.leap.lowerBound), Price.leap.upperBound)
    factor = min(max(factor * over, 1), Price.mostFactor)
  }
}
