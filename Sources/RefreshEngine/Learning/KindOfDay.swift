/// Days of the week on which an app is opened alike.
public struct KindOfDay: Hashable, Sendable {
  /// The days: bit 0 for Monday to bit 6 for Sunday.
  public private(set) var weekdays: UInt8
  /// Openings to expect in each part of such a day, the mean of the days.
  public private(set) var openings: [Double]
  /// The part of them that rests on openings that were seen; the rest is assumed.
  public private(set) var seen: [Double]

  /// How many openings a day may differ between days that are alike, at the least.
  private static let leastApart = 0.1
  /// The part of a day's openings that may differ between days that are alike.
  private static let partApart = 0.25

  /// Whether about as many openings come at the same times as on other days.
  fileprivate func isLike(_ other: Self) -> Bool {
    let apart = zip(seen, other.seen).reduce(0) { $0 + abs($1.0 - $1.1) }
    return apart <= max(Self.leastApart, Self.partApart * max(seen.reduce(0, +), other.seen.reduce(0, +)))
  }

  /// Adds a day to the kind.
  fileprivate mutating func add(_ day: Self) {
    let days = Double(weekdays.nonzeroBitCount)
    func mean(_ before: [Double], _ new: [Double]) -> [Double] {
      zip(before, new).map { ($0 * days + $1) / (days + 1) }
    }
    openings = mean(openings, day.openings)
    seen = mean(seen, day.seen)
    weekdays |= day.weekdays
  }
}

extension Usage {
  /// The days of the week, grouped into kinds of days that are alike.
  public var kindsOfDay: [KindOfDay] {
    (0..<7).reduce(into: []) { kinds, day in
      let day = KindOfDay(weekdays: 1 << UInt8(day), openings: openings(onDay: day), seen: seen(onDay: day))
      if let index = kinds.firstIndex(where: { $0.isLike(day) }) { kinds[index].add(day) } else { kinds.append(day) }
    }
  }
}
