/// Raises the price of refreshes for a machine over its budget, and for an app that takes far more than its share.
enum Price {
  /// The highest factor of the price, and of an app.
  static let mostFactor: Float = 1024
  /// The bounds for the change of a factor in a night: it falls faster than it rises, and is gone a week after a rush.
  static let leap: ClosedRange<Float> = 0.25...2
  /// How many budgets of an app it may take before it pays more itself.
  static let mostShares = 3.0
  /// How many budgets of an app count against the budget of the machine at most, so that one app hardly raises the price of
  /// others.
  static let countedShares = 1.5

  /// The factor after a day that took `over` times its budget; never below 1, so that cheap days save nothing up.
  static func step(_ factor: Float, over: Double) -> Float {
    min(max(factor * min(max(Float(over), leap.lowerBound), leap.upperBound), 1), mostFactor)
  }
}

/// The part of the budget that an app's background refreshes took, and the factor that the app pays for it.
struct Spending: Hashable, Sendable {
  /// Refreshes since the last night; a long refresh, or a refresh with many metered bytes, counts as several.
  var today: Float = 0
  /// Refreshes a day, as a mean in which the last day counts for two thirds.
  var mean: Float = 0
  /// The factor of the app's price: 1, and more while it takes more than the machine can allow.
  var factor: Float = 1
  /// Whether the ceiling, and not the price, planned the next refresh, which then is not charged.
  var isForced = false

  /// Refreshes a day, including the day that ends.
  var meanTonight: Float { (mean + 2 * today) / 3 }

  /// Ends a day: the factor rises if the app took more than `most`, and falls if it took less.
  mutating func passNight(most: Double) {
    mean = meanTonight
    today = 0
    factor = Price.step(factor, over: Double(mean) / most)
  }
}
