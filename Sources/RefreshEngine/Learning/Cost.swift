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
