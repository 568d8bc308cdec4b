import RefreshConfig
import RefreshEngine

/// Reads timers, and makes the app that would replace each.
struct TimerSurvey {
  let systemctl: Systemctl
  private let folder: String
  private let bounds: Adoption.AdoptionBounds
  /// The number of times to read: enough to see the nightly rest of a timer that runs every few minutes.
  private static let times = 1500

  init(isUser: Bool) {
    systemctl = Systemctl(isUser: isUser)
    folder = AdoptedFile.folder(isUser: isUser)
    let sources = isUser ? ConfigurationSources.user(home: environmentVariable("HOME") ?? "/") : .system
    var limits = Limits()
    // Another user's files may be unreadable, and `check` reports mistakes.
    do throws(ConfigurationError) {
      limits = try Configuration.load(from: sources, as: Reader(isUserDaemon: isUser)).limits
    } catch {
      limits = Limits()
    }
    bounds = Adoption.AdoptionBounds(floor: limits.backgroundFloor, cap: limits.deadlineCap)
  }

  /// The settings of timers.
  func settings(of names: [String]) throws(Failure) -> [TimerSettings] {
    try systemctl.show(names, TimerSettings.properties).map(TimerSettings.init)
  }

  /// Makes the app that replaces a timer.
  func adoption(of timer: TimerSettings) throws(Failure) -> Result<Adoption, Adoption.Obstacle> {
    guard timer.isThere else {
      return .failure(.init(reason: timer.loadState == "masked" ? "it is masked" : "the timer does not exist"))
    }
    let service = TimedService(try systemctl.show([timer.unit], TimedService.properties).first ?? [:])
    let names = ["Condition", "Assert"]
    let conditions = (
      timer: try systemctl.assignments(of: timer.name, startingWith: names),
      service: service.isThere ? try systemctl.assignments(of: timer.unit, startingWith: names) : []
    )
    let rhythm = try rhythm(of: timer)
    do throws(Adoption.Obstacle) {
      return .success(try Adoption(timer, service, conditions: conditions, rhythm, bounds, in: folder))
    } catch {
      return .failure(error)
    }
  }

  private func rhythm(of timer: TimerSettings) throws(Failure) -> Rhythm? {
    guard !timer.calendar.isEmpty else { return nil }
    return Rhythm(try systemctl.times(of: timer.calendar, number: Self.times))
  }

  /// The file of the app that would replace a timer.
  func file(of timer: String) -> AdoptedFile { AdoptedFile(path: "\(folder)/\(Adoption.id(of: timer)).toml") }

  /// Whether an app replaces the timer; an unreadable file counts as one.
  func isAdopted(_ timer: String) -> Bool {
    let file = file(of: timer)
    guard file.isThere else { return false }
    do throws(Failure) { return TimerMark(in: try file.text())?.timer == timer } catch { return true }
  }
}

/// A timer in the list of all timers.
struct SurveyedTimer {
  let timer: TimerSettings
  /// The replacing app, or the reason why there is none.
  let adoption: Result<Adoption, Adoption.Obstacle>
  /// Whether an app already replaces the timer.
  let isAdopted: Bool

  /// The improvements by refreshd, each in a few words.
  var gains: [String] {
    guard !isAdopted, case .success(let adoption) = adoption else { return [] }
    let meanings = adoption.remarks.map(\.meaning)
    var gains: [String] = []
    if meanings.contains(where: { $0.hasPrefix("power = ") }) { gains.append("waits for mains power") }
    if meanings.contains(where: { $0.hasPrefix("network = ") }) { gains.append("waits for a network") }
    if !timer.calendar.isEmpty, !timer.isPersistent { gains.append("catches up") }
    if !timer.hasRandomDelay { gains.append("shares wakes") }
    return gains + ["retries"]
  }
}

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

extension Substring {
  /// The range of the first occurrence of a text.
  fileprivate func range(of text: String) -> Range<Index>? { ranges(of: text).first }
}
