import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

/// The running refreshes, and the tokens of their tasks.
struct RunningRefreshes {
  struct Running {
    /// The app's configuration at the start.
    let app: AppConfiguration
    let trigger: Trigger
    /// The deadline of the refresh at its start, boot clock; the engine may have moved it since.
    let startDeadline: Instant
    /// The lease of the attached process that performs the refresh; nil if the app's commands do.
    fileprivate(set) var performer: LeaseID?
    /// When that process was asked to perform it, boot clock.
    fileprivate(set) var askedAt: Instant?
    /// A token for each task, with which it may complete itself.
    fileprivate(set) var tokens: [String]
    /// The `Run` calls that receive each step.
    let runCalls: [RunCalls.RunCall]

    /// The payload of a `Run` call; nil for none.
    var payload: String? { runCalls.lazy.compactMap(\.parameters.payload).first }

    /// The content id of that payload.
    var contentID: String? {
      do throws(AppInterface.InvalidPayload) {
        return try payload.flatMap { (text) throws(AppInterface.InvalidPayload) in
          try PushPayload(text).contentID
        }
      } catch {
        // The payload was checked when it came.
        return nil
      }
    }

    /// The deadline in force, boot clock.
    func deadline(of refresh: RefreshID, in core: DaemonCore) -> Instant {
      core.engine.deadline(of: refresh) ?? startDeadline
    }

    /// Whether its process leaves without having taken it: an app that the bus has started, and that was about to end.
    func isNotTaken(at now: Instant) -> Bool {
      guard app.commands.first?.activation != nil, let askedAt else { return false }
      return askedAt.duration(to: now) <= .seconds(2)
    }

    /// The commands of the refresh; none if an attached process performs it.
    var commands: [Command] { performer == nil ? app.commands : [] }
  }

  private var running: [RefreshID: Running] = [:]
  private var tasks: [String: ProcessKey] = [:]

  subscript(refresh: RefreshID) -> Running? { running[refresh] }

  /// The task with this token; nil if there was none or it has ended.
  func task(of token: String) -> ProcessKey? { tasks[token] }

  /// The task whose worker calls with this token; nil for any other caller.
  ///
  /// The worker runs as the owner; another user may not use a token that it found.
  func task(of token: String, calledBy peer: Peer) -> (key: ProcessKey, running: Running)? {
    guard let key = tasks[token], let running = running[key.refresh], running.performer == nil,
      running.app.owner.uid == peer.uid
    else { return nil }
    return (key, running)
  }

  /// The commands of a running refresh, by the launcher's names.
  func keys(of refresh: RefreshID) -> [ProcessKey] {
    (running[refresh]?.commands ?? []).indices.map { ProcessKey(refresh: refresh, task: $0) }
  }

  /// The refreshes that an attached process performs, in order of their ids.
  func performed(by performer: LeaseID) -> [RefreshID] {
    running.filter { $0.value.performer == performer }.keys.sorted()
  }

  /// Adds a refresh and gives each of its tasks a token; an attached process performs it as one task.
  ///
  /// Running tasks that were found keep their tokens: `found` has these, by the number of the task.
  mutating func add(
    _ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant, performer: LeaseID?,
    at now: Instant, found: [Int: String] = [:], runCalls: [RunCalls.RunCall]
  ) -> Running {
    let tokens = (performer == nil ? app.commands.indices : 0..<1).map { found[$0] ?? Token.make() }
    for (index, token) in tokens.enumerated() { tasks[token] = ProcessKey(refresh: refresh, task: index) }
    let started = Running(
      app: app, trigger: trigger, startDeadline: deadline, performer: performer, askedAt: now, tokens: tokens,
      runCalls: runCalls)
    running[refresh] = started
    return started
  }

  /// Gives an attached process the refresh whose task has activated its app, with a new token in place of the task's.
  ///
  /// A refresh with an outcome, or past its deadline, stays with its task.
  mutating func handOver(
    to performer: LeaseID, activationOf app: AppID, in core: DaemonCore
  ) -> (RefreshID, Running)? {
    let found = running.first { refresh, running in
      running.app.id == app && running.performer == nil && running.commands.first?.activation != nil
        && core.engine.outcome(of: refresh, task: 0) == nil && core.now < running.deadline(of: refresh, in: core)
    }
    guard let refresh = found?.key else { return nil }
    for token in running[refresh]?.tokens ?? [] { tasks[token] = nil }
    let token = Token.make()
    tasks[token] = ProcessKey(refresh: refresh, task: 0)
    running[refresh]?.performer = performer
    running[refresh]?.askedAt = core.now
    running[refresh]?.tokens = [token]
    return running[refresh].map { (refresh, $0) }
  }

  /// Forgets an ended refresh, and returns the `Run` calls that waited for it.
  mutating func end(_ refresh: RefreshID) -> [RunCalls.RunCall] {
    guard let ended = running.removeValue(forKey: refresh) else { return [] }
    for token in ended.tokens { tasks[token] = nil }
    return ended.runCalls
  }
}

extension Wire.AttachEvent {
  /// Makes the request to perform a refresh.
  init(
    perform refresh: RefreshID, _ running: RunningRefreshes.Running, payload: String?, contentID: String?,
    in core: DaemonCore
  ) {
    self.init(
      kind: .perform, refresh: refresh.description, trigger: Wire.Trigger(running.trigger),
      token: running.tokens.first,
      payload: payload, session: core.engine.started(of: refresh)?.session,
      tries: core.engine.tries(deliveredBy: refresh),
      deadlineMicroseconds: core.wall(running.deadline(of: refresh, in: core)),
      contentID: contentID)
  }
}

extension ProcessKey {
  /// Names a task of a refresh.
  init(refresh: RefreshID, task: Int) { self.init(run: refresh.run, task: task) }

  /// The refresh of a process that ``RefreshRunner`` has started.
  var refresh: RefreshID { RefreshID(run) }
}

/// The secret that identifies the process of a task or a worker.
enum Token {
  /// Makes a token: 128 random bits, which only a process that received it can know.
  static func make() -> String {
    (0..<2).map { _ in
      let half = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - half.count) + half
    }.joined()
  }
}

extension Started {
  /// The tasks of a refresh that an earlier daemon may have left.
  func tasks(in app: AppConfiguration?) -> [LeftTask] {
    guard let app else { return [] }
    return zip(app.commands, app.policy.tasks).enumerated().map { number, task in
      LeftTask(
        key: ProcessKey(refresh: id, task: number), app: app.id, command: task.0, owner: app.owner,
        changedPath: task.1.newData.path)
    }
  }
}
