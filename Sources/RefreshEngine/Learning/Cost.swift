/// The cost of a refresh of an app: decayed means of its run time, processor time and bytes.
///
/// The relative cost is the mean of three ratios of the app's mean to the mean of the machine's typical refresh: run time,
/// processor time and bytes. A byte over a metered connection counts as ``meteredWeight`` bytes. The cost stays between
/// ``least`` and ``most``, and is 1 while nothing is known.
struct Cost: Hashable, Sendable {
  /// The weight of a new refresh in a mean: a memory of about ten refreshes, so that a changed cost is known in a day.
  static let pace: Float = 0.1
  /// How many bytes a byte over a metered connection counts as: a metered gigabyte costs about as much as an unmetered
  /// month.
  static let meteredWeight = 10.0
  /// The least relative cost: a quarter of the typical refresh, so that a cheap app leaves budget to the others.
  static let least = 0.25
  /// The highest relative cost: eight typical refreshes, so that a dear app is still refreshed.
  static let most = 8.0

  /// Mean run time in seconds, mean processor time in seconds, and mean weighed kilobytes.
  private(set) var means = SIMD3<Float>(0, 0, 0)
  /// Whether a refresh was ever measured.
  private(set) var isKnown = false

  /// Makes means that were stored; nil unless each is a finite number of zero or more.
  init?(means: SIMD3<Float>, isKnown: Bool) {
    for index in 0..<3 where !(means[index] >= 0 && means[index].isFinite) { return nil }
    self.means = means
    self.isKnown = isKnown
  }

  /// Makes a cost that was never measured.
  init() {}

  /// Learns the run time and the bytes of a refresh; a number that is not finite or below zero counts as zero.
  ///
  /// Uncounted bytes leave their mean as it is.
  mutating func spent(duration: Double, cpu: Double, bytes: Double?, metered: Bool) {
    func sound(_ value: Double) -> Float { value.isFinite ? Float(min(max(value, 0), 1e12)) : 0 }
    let weighed = bytes.map { sound($0 / 1000 * (metered ? Self.meteredWeight : 1)) }
    let taken = SIMD3(sound(duration), sound(cpu), weighed ?? means.z)
    means = isKnown ? means + Self.pace * (taken - means) : taken
    isKnown = true
  }

  /// The cost relative to the typical refresh with the given means.
  func relative(to typical: SIMD3<Float>) -> Double {
    guard isKnown else { return 1 }
    var sum = 0.0
    var terms = 0.0
    for index in 0..<3 where typical[index] > 0 {
      sum += Double(means[index]) / Double(typical[index])
      terms += 1
    }
    return terms > 0 ? min(max(sum / terms, Self.least), Self.most) : 1
  }
}

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
