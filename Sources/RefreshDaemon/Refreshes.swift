import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The refreshes whose processes this daemon has started, and who watches them.
struct Refreshes {
  typealias RunCall = Call<ManagerInterface.Run.Parameters>

  /// One of them.
  struct Running {
    /// The app as it was configured at the start.
    let app: AppConfiguration
    let trigger: Trigger
    /// When it is asked to end, boot clock.
    let deadline: Instant
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

  /// The tasks of a running refresh.
  func keys(of refresh: RefreshID) -> [TaskKey] {
    (running[refresh]?.app.commands.indices).map { $0.map { TaskKey(refresh: refresh, task: $0) } } ?? []
  }

  /// Takes up a refresh and gives each of its tasks a token.
  ///
  /// A token is 128 random bits, so that only who was given one can complete the task. Tasks that were found running have
  /// theirs, by their number.
  @discardableResult
  mutating func begin(
    _ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant, found: [Int: String] = [:]
  ) -> Running {
    let tokens = app.commands.indices.map { found[$0] ?? Self.makeToken() }
    for (index, token) in tokens.enumerated() { tasks[token] = TaskKey(refresh: refresh, task: index) }
    // A refresh that the engine had begun when the call came may not have got here yet: its start is saved first.
    let calls = waiting.removeValue(forKey: app.id) ?? []
    let later = calls.filter { $0.before == refresh }
    if !later.isEmpty { waiting[app.id] = later }
    let started = Running(
      app: app, trigger: trigger, deadline: deadline, tokens: tokens,
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

  private static func makeToken() -> String {
    (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
  }
}
