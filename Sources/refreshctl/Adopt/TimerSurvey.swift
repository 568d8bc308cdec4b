import RefreshConfig
import RefreshEngine

/// Reads timers and judges what an app in their place would be.
struct TimerSurvey {
  let systemctl: Systemctl
  private let folder: String
  private let bounds: Adoption.AdoptionBounds
  /// Enough times for a night in which a timer of every few minutes rests.
  private static let times = 1500

  init(isUser: Bool) {
    systemctl = Systemctl(isUser: isUser)
    folder = AdoptedFile.folder(isUser: isUser)
    let sources = isUser ? ConfigurationSources.user(home: environmentVariable("HOME") ?? "/") : .system
    var limits = Limits()
    // Another user's files may not be readable, and mistakes are told by `check`.
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

  /// The app that does what a timer does.
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

  /// The file of the app that stands for a timer, if there is one.
  func file(of timer: String) -> AdoptedFile { AdoptedFile(path: "\(folder)/\(Adoption.id(of: timer)).toml") }

  /// Whether an app stands for the timer; a file that this process may not read is taken for it.
  func isAdopted(_ timer: String) -> Bool {
    let file = file(of: timer)
    guard file.isThere else { return false }
    do throws(Failure) { return TimerMark(in: try file.text())?.timer == timer } catch { return true }
  }
}

/// A timer in the list of all.
struct SurveyedTimer {
  let timer: TimerSettings
  /// The app in its place, or why there is none.
  let adoption: Result<Adoption, Adoption.Obstacle>
  /// Whether an app stands for it already.
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
