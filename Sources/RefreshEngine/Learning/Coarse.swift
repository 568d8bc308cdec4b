// The coarse habit: two months of openings by half hour, spread widely.

extension Use {
  /// Openings by half hour, on weekdays (0) or on weekends (1).
  private func openings(ofKind kind: Int) -> [Double] {
    openings[(kind * Self.halfHours)..<((kind + 1) * Self.halfHours)].map { max(Double($0), 0) }
  }

  /// Pseudo-openings in the shape of the pool, among an app's own.
  private static let poolWeight = 3.0
  /// Pseudo-openings spread over the whole day: no half hour is ever ruled out.
  private static let evenWeight = 1.0
  /// Pseudo-days with the whole week's volume, among the days of one kind.
  ///
  /// Measured: three fleets, two of them with weekends of their own, gain .1 to .2 percent from 3 in place of 7.
  private static let weekDays = 3.0

  /// The shape, the pseudo-openings and the first weight of a coarse habit.
  struct CoarsePrior: Sendable {
    /// Whether the shape follows the app's patterns, and not the machine's typical day.
    var isOfPatterns: Bool
    var openings: Double
    var even: Double
    var chance: Double
  }

  /// The coarse habits: a few openings of the typical day, or more openings in the machine's patterns.
  ///
  /// Measured: on the public fleet 15 openings of the patterns gain .008 of the score, 40 .013, 120 .014. Where each app
  /// has its own times the first is better, so both are weighed.
  static let coarsePriors = [
    CoarsePrior(isOfPatterns: false, openings: poolWeight, even: evenWeight, chance: 0.35),
    CoarsePrior(isOfPatterns: true, openings: 120, even: 0.5, chance: 0.45),
  ]

  /// Openings by half hour, of all days.
  var ofAllDays: [Double] { zip(openings(ofKind: 0), openings(ofKind: 1)).map(+) }

  /// Openings a day: (openings + ½) / (days + 1), and (openings + 6) / 8 until the first midnight.
  ///
  /// While nothing is known of the user, an opening says little about how many follow. Measured against a fixed interval of
  /// the same cost: the data met on the first day is .67 to .98 as old, with the first formula .78 to 1.20.
  private func volume(_ total: Double) -> Double {
    let seen = Double(days.sum())
    return seen > 0 ? (total + 0.5) / (seen + 1) : (total + 6) / 8
  }

  /// Expected openings by half hour, on weekdays and on weekends, for each of ``coarsePriors``.
  ///
  /// Shape × volume. The shape is the shape of all openings, spread (see ``Circle``). It moves to the shape of each kind of
  /// day by the chance that the kinds differ at all (see ``Weekends``), so that a fleet without weekends loses nothing.
  func coarse(_ shared: SharedUse) -> [[[Double]]] {
    let kinds = [openings(ofKind: 0), openings(ofKind: 1)]
    let all = zip(kinds[0], kinds[1]).map(+)
    let total = all.reduce(0, +)
    let rate = volume(total)
    let spread = Circle.spread(all)
    let patterns = shared.patterns.expected(of: all, pool: shared.pool)
    let shapes = Self.coarsePriors.map { prior in
      (0..<Use.halfHours).map { half in
        let before = prior.isOfPatterns ? patterns[half] : Double(shared.pool[half])
        let supposed = prior.openings * before + prior.even / Double(Self.halfHours)
        return (spread[half] + supposed) / (total + prior.openings + prior.even)
      }
    }
    let differ = Weekends.differ(kinds[0], kinds[1], days: SIMD2(days), shape: shapes[0])
    // A difference of a hundredth is not worth the second spreading.
    let isApart = differ.shape > 0.01
    let ofKinds = kinds.indices.map { kind in
      let own = kinds[kind].reduce(0, +)
      let volume = (own + Self.weekDays * rate) / (Double(days[kind]) + Self.weekDays)
      return (
        openings: own, spread: isApart ? Circle.spread(kinds[kind]) : [],
        expected: rate + differ.volume * (volume - rate)
      )
    }
    return shapes.map { shape in
      ofKinds.map { kind in
        guard isApart else { return shape.map { $0 * kind.expected } }
        return zip(shape, kind.spread).map { shape, spread in
          let own = (spread + Weekends.weight * shape) / (kind.openings + Weekends.weight)
          return (shape + differ.shape * (own - shape)) * kind.expected
        }
      }
    }
  }

  /// The supposed part of the coarse habit; the rest was seen.
  var coarseSupposed: Double {
    let weight = Self.poolWeight + Self.evenWeight
    return weight / (Double(total) + weight)
  }
}
