import RefreshConfig

/// A timer of systemd and the unit that it starts, as systemctl shows them (systemd.timer(5)).
struct TimerSettings {
  /// A monotonic setting, such as `OnUnitActiveSec=1d`.
  struct Span: Hashable {
    let name: String
    /// The duration; nil for an unreadable span.
    let duration: Duration?
    let text: String
  }

  let name: String
  let description: String
  let loadState: String
  var isThere: Bool { loadState == "loaded" }
  /// The state of the timer's file: `enabled`, `static` and so on.
  let fileState: String
  let isActive: Bool
  /// The unit that the timer starts.
  let unit: String
  /// The expressions of `OnCalendar=`.
  let calendar: [String]
  let spans: [Span]
  let isPersistent: Bool
  let wakes: Bool
  let hasRandomDelay: Bool
  /// Whether the timer starts its unit when the clock or the time zone changes.
  let followsClock: Bool

  static let properties = [
    "Id", "Description", "LoadState", "UnitFileState", "ActiveState", "Unit", "TimersCalendar", "TimersMonotonic",
    "Persistent", "WakeSystem", "RandomizedDelayUSec", "OnClockChange", "OnTimezoneChange",
  ]

  init(_ shown: [String: [String]]) {
    func text(_ name: String) -> String { shown[name]?.first ?? "" }
    name = text("Id")
    description = text("Description")
    loadState = text("LoadState")
    fileState = text("UnitFileState")
    isActive = text("ActiveState") == "active"
    unit = text("Unit")
    calendar = (shown["TimersCalendar"] ?? []).compactMap { Self.value(in: $0)?.1 }
    spans = (shown["TimersMonotonic"] ?? []).compactMap(Self.value).map { name, value in
      Span(name: name.replacing("USec", with: "Sec"), duration: Self.duration(value), text: value)
    }
    isPersistent = text("Persistent") == "yes"
    wakes = text("WakeSystem") == "yes"
    hasRandomDelay = !["0", ""].contains(text("RandomizedDelayUSec"))
    followsClock = text("OnClockChange") == "yes" || text("OnTimezoneChange") == "yes"
  }

  /// The first assignment in a text such as `{ OnBootUSec=15min ; next_elapse=1d }`.
  private static func value(in text: String) -> (String, String)? {
    let inner = text.drop { $0 == "{" || $0 == " " }
    guard let sign = inner.firstIndex(of: "="), let end = inner.range(of: " ; ")?.lowerBound, sign < end else {
      return nil
    }
    return (String(inner[..<sign]), String(inner[inner.index(after: sign)..<end]))
  }

  private static func duration(_ text: String) -> Duration? {
    do throws(Unreadable) { return try Duration(systemd: text) } catch { return nil }
  }
}

extension Substring {
  /// The range of the first occurrence of a text.
  fileprivate func range(of text: String) -> Range<Index>? { ranges(of: text).first }
}

/// The service that a timer starts.
struct TimedService {
  /// Whether systemd has the service.
  let isThere: Bool
  /// Whether the service waits for a network by itself.
  let wantsNetwork: Bool
  /// Whether it counts as active after its end, so that the timer starts it only once.
  let remainsAfterExit: Bool
  /// The time limit in its own file; nil for no bound.
  let timeLimit: Duration?
  /// The setting with the time limit: only for a oneshot service the start is the whole run.
  let timeLimitName: String

  static let properties = [
    "Id", "LoadState", "Type", "TimeoutStartUSec", "RuntimeMaxUSec", "After", "RemainAfterExit",
  ]

  init(_ shown: [String: [String]]) {
    func text(_ name: String) -> String { shown[name]?.first ?? "" }
    isThere = text("LoadState") == "loaded"
    wantsNetwork = text("After").split(separator: " ").contains("network-online.target")
    remainsAfterExit = text("RemainAfterExit") == "yes"
    let isOneshot = text("Type") == "oneshot"
    timeLimitName = isOneshot ? "TimeoutStartSec" : "RuntimeMaxSec"
    let limit = text(isOneshot ? "TimeoutStartUSec" : "RuntimeMaxUSec")
    var duration: Duration?
    if limit != "infinity" {
      do throws(Unreadable) { duration = try Duration(systemd: limit) } catch { duration = nil }
    }
    timeLimit = duration
  }
}
