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
      return .failure(.init(reason: timer.loadState == "masked" ? "it is masked" : "there is no such timer"))
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
