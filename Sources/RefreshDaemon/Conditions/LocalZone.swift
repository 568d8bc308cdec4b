import Glibc
import RefreshEngine
import Systemd

/// The time zone of the machine, or of `TZ`, in the engine's form (tzset(3), localtime(5)).
package final class LocalZone {
  /// How far before and after now the changes of the offset are known, in microseconds: more than a year.
  static let reach: Int64 = 400 * day
  /// How often the changes are looked up again, so that a year ahead is always known; in microseconds.
  static let renewal: Int64 = 30 * day
  private static let day: Int64 = 86_400_000_000

  /// The zone in force.
  package private(set) var zone: Zone

  private let onZone: (Zone) -> Void
  private var file: FileSource?
  private var timer: TimerSource?

  /// Reads the zone and starts to watch `/etc/localtime`.
  ///
  /// Calls `onZone` when the zone, or the known changes of its offset, have changed. Throws when the loop has no room to
  /// watch it.
  package init(on loop: EventLoop, onZone: @escaping (Zone) -> Void) throws(SystemdError) {
    self.onZone = onZone
    zone = Self.zone(around: EventLoop.wallMicroseconds())
    let look = { [unowned self] in self.look() }
    timer = try loop.timer(handler: look)
    if getenv("TZ") == nil { file = try loop.onChange(of: "/etc/localtime", handler: look) }
    armRenewal()
  }

  deinit { timer?.cancel() }

  /// Reads the zone again; must be called after a step of the wall clock, because the known changes lie around it.
  package func look() {
    armRenewal()
    let before = zone
    zone = Self.zone(around: EventLoop.wallMicroseconds())
    if zone != before { onZone(zone) }
  }

  private func armRenewal() {
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.renewal, accuracy: Self.day / 24)
  }

  /// The zone around a moment of Unix time in microseconds, by the rules of the C library.
  ///
  /// A binary search finds the second of a change in a day that begins and ends with different offsets.
  static func zone(around wall: Int64) -> Zone {
    tzset()
    let step = day / 1_000_000
    let first = (wall - reach) / 1_000_000
    var zone = Zone(offset: offset(at: first))
    var offsetBefore = zone.offset
    for start in stride(from: first, to: (wall + reach) / 1_000_000, by: Int(step)) {
      let offsetAfter = offset(at: start + step)
      guard offsetAfter != offsetBefore else { continue }
      var (before, after) = (start, start + step)
      while after - before > 1 {
        let middle = (before + after) / 2
        if offset(at: middle) == offsetBefore { before = middle } else { after = middle }
      }
      zone.changes.append(Zone.Change(at: after * 1_000_000, offset: offsetAfter))
      offsetBefore = offsetAfter
    }
    return zone
  }

  /// Seconds east of Greenwich at a second of Unix time.
  private static func offset(at second: Int64) -> Int32 {
    var (time, parts) = (time_t(second), tm())
    guard localtime_r(&time, &parts) != nil else { return 0 }
    return Int32(parts.tm_gmtoff)
  }
}
