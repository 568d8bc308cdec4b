import RefreshEngine

/// The expectations of an observer who sees only the events, the starts and the ends of the apps: the checks' own book.
///
/// It follows docs/scheduling.md in the plainest way, without the engine's indexes and requests.
public struct Bystander: Sendable {
  /// A refresh on its way.
  public struct Run: Sendable {
    /// The stage of the refresh, with its start.
    public enum Stage: Sendable {
      case running, warned
      case terminating(StopReason, since: Instant), killed(StopReason, since: Instant), stuck(StopReason)
    }
    var id: RefreshID
    var trigger: Trigger
    var startedAt: Instant
    var deadline: Instant
    var grace: Duration
    var owner: UInt32
    var stage: Stage
    /// Whether its start has been performed, so that its deadline runs.
    var hasBegun = true
    /// The longest delay before a retry that a task has asked for.
    var retryAfter: Duration?
    /// The tasks as configured at the start, and their starts, reports and ends.
    var tasks: [TaskPolicy] = []
    var started: Set<Int> = []
    var said: [Int: Outcome] = [:]
    var ended: [Int: Outcome] = [:]
    /// Whether it takes a place; a refresh whose processes outlive SIGKILL for ten seconds takes none.
    var holdsSlot: Bool { if case .stuck = stage { false } else { true } }
    /// The times at which it is asked to end and is killed, because the machine goes to sleep.
    var sleep: (stop: Instant, kill: Instant)?
    /// The time at which it is asked to end because a constraint is lost; nil while all are met.
    var lossStop: Instant?

    /// Starts with the tasks that come after no other task; an attached process has only one task.
    init(_ new: Beginning, _ policy: Policy, at now: Instant) {
      let tasks = new.isAttached ? [TaskPolicy(name: "app")] : policy.tasks
      (id, trigger, startedAt, deadline) = (new.id, new.trigger, now, new.deadline)
      (grace, owner, self.tasks) = (policy.grace, policy.owner, tasks)
      stage = policy.deadline <= .seconds(5) ? .warned : .running
      started = Set(tasks.indices.filter { tasks[$0].after.isEmpty })
    }

    /// Continues under the next daemon with the tasks that still run or whose ends are known.
    init(_ lost: Run, of app: AppID, _ policy: Policy, survivors: Set<Int>, at now: Instant) {
      let new = Beginning(
        id: lost.id, app: app, trigger: lost.trigger,
        deadline: max(lost.startedAt + policy.deadline, now + .seconds(5)), isAttached: false)
      self.init(new, policy, at: lost.startedAt)
      for task in started.subtracting(survivors) { ended[task] = .failed(.daemonCrashed) }
      started = survivors
    }
  }

  /// An app, as an observer from outside sees it.
  public struct App: Sendable {
    var policy: Policy?
    var isForeground = false
    var isLoggedOut = false
    var leases: [LeaseID: Signal] = [:]
    var presence = Presence.unknown
    /// Whether the phase was signalled since the app started, so that desktops do not count.
    var isPhaseReported = false
    var overrides = Overrides()
    var lastStart: Instant?
    /// The moment from which the fixed interval of the background counts.
    var grid: Instant?
    var run: Run?
    /// Whether something other than time asked for a refresh while one was running.
    var isAsked = false
    /// Whether the foreground interval counts from the entry into the foreground, as with `on_foreground = "never"`.
    var countsFromEntry = false
    var isDisabled = false
    /// The time of the first configuration and of the last fresh data, which give the age of the data.
    var seenAt: Instant?
    var freshAt: Instant?
    /// The number of consecutive temporary failures.
    var failures = 0
    /// The times of the last three overruns of the deadline.
    var strikes: [Instant] = []
    /// The earliest time of a retry after the last temporary failure.
    var retryFrom: Instant?
    /// The time until which a server has forbidden refreshes by time.
    var refusedUntil: Instant?
    /// Whether a retry may start at once: the refresh was lost, cut short, or asked for from outside.
    var mayRetryAtOnce = false
    /// The time until which a skip delays refreshes by time.
    var skippedUntil: Instant?
    var oneShot: OneShot?
    /// Whether the app is reported as stale.
    var isStaleReported = false
    /// Whether a person asked for a refresh that has not started.
    var isAskedByHand = false
    /// The changes in its watched folder, and until when they count as its refresh's own work.
    var change: Change?
    var writesUntil: Instant?
    /// Whether an attached process performs its refreshes, and whether one did so to the end of the last daemon.
    var (isAttached, wasAttached) = (false, false)
    /// Whether the user has ended the app and it has not been started since.
    var isTerminated = false
    /// The unanswered questions about its own conditions, the last answer to each, and whether a yes counts on.
    var questions: [Constraint: RunID] = [:]
    var answers: [Constraint: (isMet: Bool, at: Instant)] = [:]
    var keepsAnswers = false

    /// The app without the facts about its refresh.
    var atRest: App {
      var app = self
      app.run = nil
      return app
    }
  }

  var apps: [AppID: App] = [:]
  var limits = Limits()
  var startedAt: Instant?
  var (isStopping, isSuspending) = (false, false)
  /// The refreshes of the previous daemon, and their survivors.
  var lost: [AppID: Run] = [:]
  var survivors: [RefreshID: Set<Int>] = [:]
  var conditions = Conditions()
  /// Whether the daemon reports each start that it performs, because its disk may not answer.
  var awaitsBegin = false
  var pause: Pause?
  var zone = Zone.utc
  var wallOffset = Duration.zero
  var resumedAt: Instant?
  /// The end of the settle time, by the limits in force.
  var settlingUntil: Instant? { resumedAt.map { $0 + limits.settle } }
  /// The transitions of refreshes, as lines of the diagram of `Refreshing`.
  public internal(set) var transitions: Set<Transition> = []

  /// A step of a refresh from stage to stage.
  public struct Transition: Hashable, Sendable {
    /// The stage before, `started` at the start.
    public var from: String
    /// The stage after.
    public var to: String
    /// The stop reason, or the effect of time.
    public var cause: String
  }

  /// The clock by which another boot's state was restored, until it is set, and the restored state.
  var lateClock: LateClock?
  var restored = Restored([:], nil)
  /// The time off that the last event has counted; nil if it has counted none.
  var timeOff: TimeOff?
  private var saved: [AppID: App] = [:]
  private var savedPause: Pause?

  /// Notes that saved changes survive the daemon.
  mutating func save(_ changes: Changes) {
    for id in changes.apps { saved[id] = apps[id] }
    if !changes.device.isEmpty { savedPause = pause }
  }

  /// Drops the unsaved facts when the daemon ends; no lease survives it.
  mutating func loseUnsaved() {
    lost = saved.compactMapValues(\.run)
    isSuspending = false
    for id in saved.keys {
      saved[id]?.isAttached = false
      saved[id]?.leases = [:]
      saved[id]?.presence = .unknown
      saved[id]?.isPhaseReported = false
      saved[id]?.policy = nil
      saved[id]?.isAsked = false
      saved[id]?.change = nil
      saved[id]?.writesUntil = nil
      saved[id]?.questions = [:]
      saved[id]?.answers = [:]
    }
    apps = saved.mapValues(\.atRest)
    pause = savedPause
    conditions = Conditions()
    (resumedAt, startedAt, isStopping) = (nil, nil, false)
  }

  /// Handles a wall clock that was set while no daemon ran: nobody knows which future times were set since the boot.
  mutating func step(whileDownFrom saved: Duration, to offset: Duration, at now: Instant) {
    (wallOffset, restored, timeOff) = (saved, Restored([:], nil), nil)
    step(to: offset, at: now)
    if let timeOff { self.saved = timeOff.passing(self.saved) }
    timeOff = nil
  }

  /// Handles a new boot, in which the same times are other instants.
  mutating func shift(by shift: Duration) {
    for id in saved.keys { saved[id]?.move({ $0 + shift }, ahead: { $0 + shift }) }
    apps = saved.mapValues(\.atRest)
    if case .until(let end) = savedPause { savedPause = .until(end + shift) }
    pause = savedPause
    restored = Restored(apps, pause)
  }

  /// The present state of the apps that an event and its decision name.
  func apps(in event: Event, _ decision: Decision) -> [AppID: App] {
    var named = decision.changes.apps
    for record in decision.changes.history.refreshes { named.insert(record.app) }
    for effect in decision.effects { named.insert(effect.app) }
    if let app = event.app { named.insert(app) }
    return Dictionary(uniqueKeysWithValues: named.compactMap { id in apps[id].map { (id, $0) } })
  }

  mutating func take(_ event: Event, _ decision: Decision, at now: Instant) {
    let phase = event.app.flatMap { apps[$0]?.phase }
    timeOff = nil
    if case .until(let end) = pause, end <= now { pause = nil }
    // A start that was held when the disk had saved it was never performed.
    if !decision.endsAtBegin(event) { hear(event, at: now) }
    if let id = event.app, let app = apps[id], app.phase != phase {
      apps[id]?.countsFromEntry = app.phase == .foreground && app.policy?.onForeground == .never
      // The user's look at it may bring a retry forward.
      if app.phase == .foreground { apps[id]?.mayRetryAtOnce = true }
    }
    for effect in decision.effects { see(effect, at: now) }
    for record in decision.changes.history.refreshes { note(record, at: now) }
    for (id, app) in apps where app.isStaleReported && app.policy != nil && !app.isPastObjective(at: now) {
      apps[id]?.isStaleReported = false
    }
    for new in decision.beginnings {
      let app = new.app
      guard let policy = apps[app]?.policy else { continue }
      apps[app]?.run = Run(new, policy, at: now)
      apps[app]?.run?.hasBegun = !awaitsBegin
      apps[app]?.lastStart = now
      apps[app]?.passGrid(at: now, limits)
      apps[app]?.wasAttached = new.isAttached
      apps[app]?.isAsked = false
      apps[app]?.countsFromEntry = false
      // A refresh that reported a session does not serve the other requests.
      if new.trigger != .transfer, !decision.tellsPush(to: new.app) {
        apps[app]?.isAskedByHand = false
        apps[app]?.mayRetryAtOnce = false
        apps[app]?.retryFrom = nil
        apps[app]?.change = nil
      }
      apps[app]?.change?.isSure = false
      if let until = apps[app]?.skippedUntil, until <= now { apps[app]?.skippedUntil = nil }
      if let oneShot = apps[app]?.oneShot, oneShot.earliest <= now { apps[app]?.oneShot = nil }
      if !awaitsBegin { noteBegin(policy) }
    }
    keepAnswers(at: now)
  }

  /// Notes that a start is performed: the whole deadline begins now.
  mutating func begin(_ refresh: RefreshID, at now: Instant) {
    guard let (id, app) = apps.first(where: { $0.value.run?.id == refresh }), var run = app.run,
      let policy = app.policy,
      !run.hasBegun
    else { return }
    run.hasBegun = true
    let wait = run.startedAt.duration(to: now)
    run.deadline = run.deadline + wait
    if wait >= .seconds(1) {
      run.startedAt = now
      apps[id]?.lastStart = now
      apps[id]?.passGrid(at: now, limits)
    }
    apps[id]?.run = run
    noteBegin(policy)
  }

  private mutating func noteBegin(_ policy: Policy) {
    note("started", policy.deadline <= .seconds(5) ? "warned" : "running", "time")
  }

  private mutating func see(_ effect: Effect, at now: Instant) {
    switch effect {
    case .start, .perform, .transfer, .stopTransfer, .reportHeld, .reportEnd, .keep, .giveBack, .reportLeftUnit: break
    case .ask(let run): if let constraint = run.constraint { apps[run.app]?.questions[constraint] = run.id }
    case .reportStale(let run, _): apps[run.app]?.isStaleReported = true
    case .startTask(let id, let app, let task):
      if apps[app]?.run?.id == id { apps[app]?.run?.started.insert(task) }
    case .warn(let id, let app, let stop):
      guard let run = apps[app]?.run, run.id == id else { return }
      if case .running = run.stage { note("running", "warned", "time") }
      apps[app]?.run?.stage = .warned
      if run.sleep == nil, stop < run.deadline { apps[app]?.run?.lossStop = stop }
    case .terminate(let id, let app, let reason):
      guard let run = apps[app]?.run, run.id == id else { return }
      if case .warned = run.stage {
        note("warned", "terminating", reason.rawValue)
      } else {
        note("running", "terminating", reason.rawValue)
      }
      apps[app]?.run?.stage = .terminating(reason, since: now)
    case .kill(let id, let app):
      guard let run = apps[app]?.run, run.id == id, case .terminating(let reason, _) = run.stage else { return }
      note("terminating", "killed", "time")
      apps[app]?.run?.stage = .killed(reason, since: now)
    case .reportStuck(let id, let app):
      guard let run = apps[app]?.run, run.id == id, case .killed(let reason, _) = run.stage else { return }
      note("killed", "stuck", "time")
      apps[app]?.run?.stage = .stuck(reason)
    }
  }

  mutating func note(_ from: String, _ to: String, _ cause: String) {
    transitions.insert(Transition(from: from, to: to, cause: cause))
  }
}
