import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The refreshes that this daemon has started, and who watches them.
struct Refreshes {
  typealias RunCall = Call<ManagerInterface.Run.Parameters>

  /// One of them.
  struct Running {
    /// The app as it was configured at the start.
    let app: AppConfiguration
    let trigger: Trigger
    /// When it is asked to end, boot clock.
    let deadline: Instant
    /// The attachment that performs it; nil where the app's commands do.
    let performer: LeaseID?
    /// A token for each task, by which it may complete itself.
    let tokens: [String]
    /// The calls that are told each step.
    var watchers: [RunCall]
  }

  private(set) var running: [RefreshID: Running] = [:]
  private var tasks: [String: TaskKey] = [:]
  /// The calls that wait for the next refresh of an app to start.
  private var waiting: [AppID: [Waiting]] = [:]

  private struct Waiting {
    let call: RunCall
    /// The refresh that was running already when the call came.
    let before: RefreshID?
  }

  /// Which task has this token; nil when it never was or has ended.
  func task(of token: String) -> TaskKey? { tasks[token] }

  /// The commands of a running refresh; none where an attached app performs it.
  func keys(of refresh: RefreshID) -> [TaskKey] {
    guard let running = running[refresh], running.performer == nil else { return [] }
    return running.app.commands.indices.map { TaskKey(refresh: refresh, task: $0) }
  }

  /// The refreshes that an attachment performs, in order of their ids.
  func performed(by performer: LeaseID) -> [RefreshID] {
    running.filter { $0.value.performer == performer }.keys.sorted()
  }

  /// Takes up a refresh and gives each of its tasks a token; what an attachment performs is one task.
  ///
  /// A token is 128 random bits, so that only who was given one can complete the task. Tasks that were found running have
  /// theirs, by their number.
  @discardableResult
  mutating func begin(
    _ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant,
    performer: LeaseID? = nil, found: [Int: String] = [:]
  ) -> Running {
    let tokens = (performer == nil ? app.commands.indices : 0..<1).map { found[$0] ?? Token.make() }
    for (index, token) in tokens.enumerated() { tasks[token] = TaskKey(refresh: refresh, task: index) }
    // A refresh that the engine had begun when the call came may not have got here yet: its start is saved first.
    let calls = waiting.removeValue(forKey: app.id) ?? []
    let later = calls.filter { $0.before == refresh }
    if !later.isEmpty { waiting[app.id] = later }
    let started = Running(
      app: app, trigger: trigger, deadline: deadline, performer: performer, tokens: tokens,
      watchers: calls.filter { $0.before != refresh }.map(\.call))
    running[refresh] = started
    return started
  }

  /// Forgets a refresh that has ended, and gives back who watched it.
  mutating func end(_ refresh: RefreshID) -> [RunCall] {
    guard let ended = running.removeValue(forKey: refresh) else { return [] }
    for token in ended.tokens { tasks[token] = nil }
    return ended.watchers
  }

  /// Has a call wait for the next refresh of an app, the one after `before` if that is running.
  mutating func wait(_ call: RunCall, for app: AppID, after before: RefreshID?) {
    waiting[app, default: []].append(Waiting(call: call, before: before))
  }

  /// Forgets the calls that wait for an app that can no longer start, and gives them back.
  mutating func stopWaiting(for app: AppID) -> [RunCall] {
    (waiting.removeValue(forKey: app) ?? []).map(\.call)
  }

  /// The apps that calls wait for, in order of id.
  var awaited: [AppID] { waiting.keys.sorted() }
}
