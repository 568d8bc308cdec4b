/// The use that the machine's apps share: the expectation for an app until its own openings say otherwise.
struct SharedUse: Hashable, Sendable {
  /// The fixed part of ``weights``, the same on any machine.
  private static let kept = 0.2

  /// The shape of the typical day, a share for each half hour.
  ///
  /// Before anything is seen, a tenth as many openings are expected from midnight to 6:00 as at any other time.
  var pool: [Float] = {
    let weights = (0..<Use.halfHours).map { Float($0 < 12 ? 0.1 : 1) }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }()
  /// The ways in which apps are opened.
  var patterns = Patterns()
  /// The weights of ``Explanations`` for an app without openings, learnt from the machine's other apps.
  var weights = Explanations.before.map { Float($0) }

  /// The sums over the apps of a night.
  struct Sums: Hashable, Sendable {
    private var shares = [Float](repeating: 0, count: Use.halfHours)
    private var patterns = Patterns.Sums()
    private var weights = [Double](repeating: 0, count: Explanations.count)
    private var apps: Float = 0

    /// Pseudo-openings of an app in the pool, so that an app with a single opening does not count in full.
    private static let doubt: Float = 2

    /// Adds an app.
    mutating func absorb(_ use: Use, of shared: SharedUse) {
      apps += 1
      let openings = use.ofAllDays
      let total = use.total
      for half in 0..<Use.halfHours { shares[half] += Float(openings[half]) / (total + Self.doubt) }
      patterns.absorb(openings, of: shared.patterns)
      guard let own = use.learntWeights else { return }
      let weight = Double(total / (total + 1))
      for index in own.indices { weights[index] += weight * own[index] }
    }

    /// The shared use after the night.
    func learnt(from shared: SharedUse) -> SharedUse {
      var learnt = shared
      let raw = shares.map { $0 / max(apps, 1) + 1e-4 }
      let count = Use.halfHours
      let smooth = (0..<count).map { (2 * raw[$0] + raw[($0 + count - 1) % count] + raw[($0 + 1) % count]) / 4 }
      let sum = smooth.reduce(0, +)
      learnt.pool = smooth.map { $0 / sum }
      learnt.patterns = patterns.learnt(from: shared.patterns, pool: learnt.pool)
      let all = weights.reduce(0, +)
      learnt.weights = zip(Explanations.before, weights).map { before, own in
        all > 0 ? Float(SharedUse.kept * before + (1 - SharedUse.kept) * own / all) : Float(before)
      }
      return learnt
    }
  }
}
