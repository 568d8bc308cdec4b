/// Days of the week on which an app is opened alike.
public struct KindOfDay: Hashable, Sendable {
  /// The days: bit 0 for Monday to bit 6 for Sunday.
  public var weekdays: UInt8
  /// Openings expected in each part of such a day.
  public var openings: [Double]
  /// The part of them that comes from openings that were seen; the rest is assumed until more is seen.
  public var seen: [Double]
}

extension Usage {
  /// How far the openings of two days may differ, in all, so that they are shown as one kind: a part of those of one.
  private static let alike = 0.02

  /// The days of the week, those that are alike as one kind.
  public var kindsOfDay: [KindOfDay] {
    var kinds: [KindOfDay] = []
    for day in 0..<7 {
      let (openings, bit) = (openings(onDay: day), UInt8(1) << UInt8(day))
      let place = kinds.firstIndex { kind in
        let apart = zip(kind.openings, openings).reduce(0) { $0 + abs($1.0 - $1.1) }
        return apart <= Self.alike * kind.openings.reduce(0, +)
      }
      guard let place else {
        kinds.append(KindOfDay(weekdays: bit, openings: openings, seen: seen(onDay: day)))
        continue
      }
      kinds[place].weekdays |= bit
    }
    return kinds
  }
}
