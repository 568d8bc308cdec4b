import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

// The daemon's state, as the socket shows it.

extension Wire.Refresh {
  init(_ refresh: StoredRefresh, of app: AppID, for viewer: Viewer) {
    let tasks = refresh.tasks.map(viewer.seen)
    let detail = tasks.lazy.compactMap(\.stopDetail).first
    self.init(
      id: refresh.id.description, app: app.description, trigger: Wire.Trigger(refresh.trigger),
      startedMicroseconds: refresh.startedWallMicroseconds, durationMicroseconds: refresh.duration.inMicroseconds,
      outcome: Wire.Outcome(refresh.outcome), cause: Wire.Cause(refresh.outcome, detail: detail),
      stopReason: refresh.stopReason.map(Wire.StopReason.init),
      cpuMicroseconds: tasks.reduce(0) { $0 + $1.cpu.inMicroseconds },
      extraCompletions: Int(refresh.extraCompletions), tasks: tasks.map { Wire.RefreshTask($0, for: viewer) },
      contentID: refresh.push?.contentID, merged: refresh.push.map { Int($0.merged) })
  }
}

extension Wire.RefreshTask {
  init(_ task: TaskRecord, for viewer: Viewer) {
    let task = viewer.seen(task)
    self.init(
      name: task.name, outcome: Wire.Outcome(task.outcome), cause: Wire.Cause(task.outcome, detail: task.stopDetail),
      durationMicroseconds: task.duration.inMicroseconds, cpuMicroseconds: task.cpu.inMicroseconds,
      bytes: task.bytes, message: task.lostConstraint == nil ? task.message : "")
  }
}

extension Wire.LastRefresh {
  init(_ refresh: StoredRefresh) {
    let detail = refresh.tasks.lazy.compactMap(\.stopDetail).first
    let cause = Wire.Cause(refresh.outcome, detail: detail)
    self.init(
      outcome: Wire.Outcome(refresh.outcome), cause: cause?.text, stopReason: cause?.stopReason,
      endedMicroseconds: refresh.startedWallMicroseconds + refresh.duration.inMicroseconds)
  }
}

/// An app at an instant, in the parts that its row and its details share.
struct AppView {
  let app: AppConfiguration
  let state: AppState
  let phase: Phase
  let verdict: Verdict
  /// The next refresh; nil while one is running.
  let prospect: Prospect?
  /// The trigger of its next refresh, unless something holds it.
  let dueTrigger: Trigger?
  let limits: Limits
  let wallOffset: Duration
  let last: StoredRefresh?
  /// Since when the data is stale, boot clock.
  let staleSince: Instant?
  /// The process that performs the next refresh; nil when none is attached.
  let performer: Int32?
  /// The attached process that did not complete a refresh in time; nil without one.
  let late: Wire.LateProcess?
  /// Whether the running refresh waits for the disk to save its start.
  let isAwaitingStore: Bool
  /// The processes of the running refresh if no signal ends them; nil otherwise.
  let stuck: [Int32]?
  /// Why the first waiting push is not delivered; nil if none waits.
  let pushWait: WaitingPush.Wait?
  /// The user whose next session logs the app in; nil if none does.
  let awaitsSessionOf: String?
  /// The state of the app's guard; nil for an app that is refreshed.
  let guarded: GuardState?

  /// The row in the list.
  var row: Wire.App {
    Wire.App(
      id: app.id.description, name: app.name, owner: app.owner.name, phase: Wire.Phase(phase),
      verdict: Wire.Verdict(verdict),
      dueMicroseconds: due.map(wall), holds: wireHolds,
      running: state.running?.id.description, last: last.map(Wire.LastRefresh.init),
      freshMicroseconds: state.freshAt.map(wall), staleSinceMicroseconds: staleSince.map(wall), next: next,
      pushWait: pushWait.map { $0.wire.word }, guarded: guarded.map(Wire.Guarded.init),
      late: late)
  }

  /// All details of the app.
  func details(for viewer: Viewer) -> Wire.AppDetails {
    Wire.AppDetails(
      id: app.id.description, name: app.name, owner: app.owner.name, phase: Wire.Phase(phase),
      verdict: Wire.Verdict(verdict),
      dueMicroseconds: due.map(wall), dueTrigger: dueTrigger.map(Wire.Trigger.init),
      holds: wireHolds, running: running,
      freshMicroseconds: state.freshAt.map(wall), staleAfterMicroseconds: app.policy.staleAfter?.inMicroseconds,
      staleSinceMicroseconds: staleSince.map(wall), heldForMicroseconds: app.policy.heldFor?.inMicroseconds,
      foregroundInterval: intervals.foreground,
      backgroundInterval: intervals.background, onForeground: Wire.OnForeground(app.policy.onForeground),
      deadlineMicroseconds: app.policy.deadline.inMicroseconds, graceMicroseconds: app.policy.grace.inMicroseconds,
      tasks: tasks, attachedPID: performer.map { Int($0) },
      file: app.file, last: last.map { Wire.Refresh($0, of: app.id, for: viewer) }, next: next,
      guarded: guarded.map(Wire.Guarded.init))
  }

  /// The next refresh, as the socket shows it.
  var next: Wire.Next? {
    prospect.map { prospect in
      Wire.Next(
        trigger: prospect.trigger.map(Wire.Trigger.init), due: prospect.due.map(window), holds: wire(prospect.holds),
        start: prospect.start.map(window), plannedMicroseconds: prospect.plannedAt.map(wall))
    }
  }

  private func window(_ window: Window) -> Wire.Window {
    Wire.Window(earliestMicroseconds: wall(window.earliest), latestMicroseconds: wall(window.latest))
  }

  private var tasks: [Wire.Task] {
    let policies = app.policy.tasks
    return zip(policies, app.commands).map { policy, command in
      Wire.Task(
        name: policy.name, command: command.arguments, after: policy.after.map { policies[$0].name },
        fetch: command.fetch.map { Wire.Fetch($0) }, transfer: command.download.map { Wire.Fetch($0) },
        replicate: command.replication.map { Wire.Replicate($0) }, unit: command.unit?.name,
        activate: command.activation?.name)
    }
  }

  /// The intervals of both phases.
  var intervals: Wire.Intervals { Wire.Intervals(app, state.overrides, limits) }

  private var wireHolds: [Wire.Hold] { wire(verdict.holds) }

  private func wire(_ holds: [Hold]) -> [Wire.Hold] {
    holds.map { $0.wire(of: app.id.description, wallOffset: wallOffset, awaitsSessionOf: awaitsSessionOf) }
  }

  private var due: Instant? {
    if case .notDue(let due) = verdict { due.window.earliest } else { nil }
  }

  /// The running refresh, if there is one.
  var running: Wire.Running? {
    state.running.map {
      Wire.Running(
        id: $0.id.description, trigger: Wire.Trigger($0.trigger), startedMicroseconds: wall($0.at),
        isAwaitingStore: isAwaitingStore ? true : nil, isStuck: stuck.map { _ in true },
        stuckPids: stuck?.map(Int.init))
    }
  }

  private func wall(_ instant: Instant) -> Int64 { instant.wallMicroseconds(at: wallOffset) }
}

extension Daemon {
  /// The state of a configured app right now.
  func view(of app: AppConfiguration) -> AppView {
    let now = core.readClocks()
    var nights = NightsAhead(from: now)
    return view(of: app, at: now, &nights)
  }

  /// The intervals of an app, which need no plan.
  func intervals(of app: AppConfiguration) -> Wire.Intervals {
    Wire.Intervals(app, core.engine.state(of: app.id)?.overrides ?? Overrides(), core.engine.limits)
  }

  /// How long apps are looked at in one turn of the caller.
  private static let lookInTurn = Duration.milliseconds(2)

  /// Works out the rows of apps in this order, in turns of the caller.
  func rows<Parameters>(
    of apps: [AppConfiguration], for call: Call<Parameters>, then answer: @escaping ([Wire.App]) -> Void
  ) {
    var rows: [Wire.App] = []
    inTurns(apps, for: call) { app, now, nights in
      rows.append(self.view(of: app, at: now, &nights).row)
    } then: {
      answer(rows)
    }
  }

  /// Looks at apps in this order, in turns of the caller: the next refresh of a planned app takes up to a millisecond.
  ///
  /// A daemon that stops answers at once, because no turn may follow.
  func inTurns<Parameters>(
    _ apps: [AppConfiguration], for call: Call<Parameters>,
    look: @escaping (AppConfiguration, Instant, inout NightsAhead) -> Void, then end: @escaping () -> Void
  ) {
    var left = apps[...]
    var nights = NightsAhead(from: core.readClocks())
    let step = {
      let now = self.core.readClocks()
      nights.goOn(from: now)
      while let app = left.popFirst() {
        look(app, now, &nights)
        if self.core.now > now + Self.lookInTurn, !self.core.engine.isStopping, !left.isEmpty { return true }
      }
      end()
      return false
    }
    if core.engine.isStopping { _ = step() } else { call.inTurns(step) }
  }

  private func view(of app: AppConfiguration, at now: Instant, _ nights: inout NightsAhead) -> AppView {
    let state = core.engine.state(of: app.id) ?? AppState()
    let outlook = core.engine.outlook(of: app.id, at: now, &nights)
    let running = state.running?.id
    let stuck = running.flatMap { core.engine.stuckRefreshes[$0] == nil ? nil : runner.processes(of: $0) }
    return AppView(
      app: app, state: state, phase: core.engine.phase(of: app.id) ?? .background,
      verdict: outlook.verdict, prospect: outlook.prospect, dueTrigger: outlook.trigger,
      limits: core.engine.limits, wallOffset: core.engine.wallOffset,
      last: runner.lastRefreshes[app.id], staleSince: core.engine.staleSince(app.id, at: now),
      performer: audience.attached.performer(of: app.id)?.pid, late: audience.attached.late(of: app.id),
      isAwaitingStore: saving.problem != nil && running.map { core.engine.isAwaitingBegin($0) } == true, stuck: stuck,
      pushWait: core.engine.waitingPushes(of: app.id, at: now).first?.wait,
      awaitsSessionOf: machine.logins.awaitsSession(app) ? app.owner.name : nil,
      guarded: core.engine.guardState(of: app.id))
  }
}

extension Wire.Intervals {
  fileprivate init(_ app: AppConfiguration, _ overrides: Overrides, _ limits: Limits) {
    let policy = app.policy
    self.init(
      app: app.id.description,
      foreground: Wire.Interval(
        policy.foregroundInterval, setTo: overrides.foregroundInterval, floor: limits.foregroundFloor),
      background: Wire.Interval(
        policy.backgroundInterval, setBy: overrides, floor: limits.backgroundFloor))
  }
}

extension Wire.Interval {
  fileprivate init(_ configured: Interval, setTo override: Interval?, floor: Duration) {
    let inForce = override ?? configured
    self.init(
      inForce: inForce.text, inForceMicroseconds: inForce.spacing(floor: floor)?.inMicroseconds,
      configured: configured.text, overridden: override != nil)
  }

  fileprivate init(_ configured: BackgroundInterval, setBy overrides: Overrides, floor: Duration) {
    let inForce = overrides.backgroundInterval(over: configured)
    self.init(
      inForce: inForce.text, inForceMicroseconds: inForce.spacing(floor: floor)?.inMicroseconds,
      configured: configured.text, overridden: overrides.backgroundInterval != nil)
  }
}

extension Wire.Fetch {
  fileprivate init(_ file: RemoteFile) {
    self.init(url: file.shownURL, to: file.target)
  }
}

extension Wire.Replicate {
  fileprivate init(_ replication: Replication) {
    self.init(source: replication.source.url.shown, target: replication.target.url.shown)
  }
}

extension Wire.Guarded {
  init(_ state: GuardState) {
    self.init(
      unit: state.unit.name, means: state.unit.means.rawValue, isKept: state.isKept, state: state.report,
      trouble: state.trouble)
  }
}

extension Wire.Waiting {
  init(_ waiting: Waiting, wallOffset: Duration) {
    self.init(
      sinceMicroseconds: waiting.since.wallMicroseconds(at: wallOffset), holds: waiting.holds.map(\.rawValue))
  }
}

extension Wire.Wait {
  init(_ wait: StoredWait) {
    self.init(
      sinceMicroseconds: wait.sinceWallMicroseconds, untilMicroseconds: wait.untilWallMicroseconds,
      holds: wait.holds.map(\.rawValue))
  }
}

extension Wire.PauseState {
  init(_ pause: Pause, wallOffset: Duration) {
    switch pause {
    case .untilResumed: self.init(untilAC: false)
    case .until(let until): self.init(untilMicroseconds: until.wallMicroseconds(at: wallOffset), untilAC: false)
    case .untilAC: self.init(untilAC: true)
    }
  }
}

extension Wire.OneShot {
  init(_ oneShot: OneShot, wallOffset: Duration) {
    self.init(earliestMicroseconds: oneShot.earliest.wallMicroseconds(at: wallOffset), reason: oneShot.reason)
  }
}

// Values of the engine that the socket shows with a text for people. Enums with equal cases are in Wire.twins.

extension Wire.Cause {
  /// The cause of a failure; nil for any other outcome.
  ///
  /// `detail` is ``TaskRecord/stopDetail``.
  init?(_ outcome: Outcome, detail: String? = nil) {
    guard case .failed(let cause) = outcome else { return nil }
    let kind = Wire.CauseKind(cause)
    switch cause {
    case .exit(let code), .temporary(let code), .signal(let code):
      self.init(kind: kind, code: Int(code), text: cause.text)
    case .stopped(let reason):
      self.init(kind: kind, stopReason: Wire.StopReason(reason), text: cause.text(detail: detail))
    default: self.init(kind: kind, text: cause.text)
    }
  }
}

extension Cause {
  /// The cause for people, to follow "failed: ".
  var text: String {
    switch self {
    case .exit(let code): "exit code \(code)"
    case .temporary(let code): "exit code \(code), a temporary failure"
    case .signal(let signal): "ended by \(signalName(signal))"
    case .spawn(let reason): reason
    case .reported(let message): message.isEmpty ? "the task said so" : message
    case .notRun(let name): "not run: \(name) failed"
    case .stopped(.deadline): "still running at its deadline"
    case .stopped(.constraintLost): "stopped: a constraint was no longer met"
    case .stopped(.logout): "stopped: the app was logged out"
    case .stopped(.user): "stopped: the user disabled the app"
    case .stopped(.unconfigured): "stopped: the app was removed from the configuration"
    case .stopped(.shutdown): "stopped: refreshd was stopping"
    case .stopped(.sleep): "stopped: the machine was going to sleep"
    case .stopped(.notTaken): "stopped: the app's process left before it accepted the refresh"
    case .daemonCrashed: "refreshd crashed during the refresh"
    case .lostClient: "the app's process ended during the refresh"
    case .outOfMemory: "killed because memory ran out"
    }
  }

  /// The cause, by what stopped the task, if that is known (``TaskRecord/stopDetail``).
  func text(detail: String?) -> String {
    switch (self, detail) {
    case (.stopped(.constraintLost), let lost?): "stopped: \(lost)"
    case (.stopped(.deadline), let expired?): expired
    default: text
    }
  }
}

extension Hold {
  /// The hold and its remedy for people, at an offset of wall time to boot time.
  ///
  /// `user` is the user whose next session logs the app in; nil if none does.
  func wire(of app: String, wallOffset: Duration, awaitsSessionOf user: String? = nil) -> Wire.Hold {
    let remedy =
      switch self {
      case .notConfigured: "write a file for it in apps.d, then refreshctl reload"
      case .misconfigured(let reason): reason
      case .loggedOut: (user.map { "a session of \($0), or " } ?? "") + "refreshctl login \(app)"
      case .disabled: "refreshctl enable \(app)"
      case .paused(.untilAC): "mains power, or refreshctl resume"
      case .paused: "refreshctl resume"
      case .never: "refreshctl set \(app) --background 1h, or refreshctl run \(app)"
      case .quiet: "the end of its quiet hours, or refreshctl run \(app)"
      case .constraint(let constraint, _): constraint.remedy(of: app)
      case .powerSaver: "another power profile"
      case .settling: "the machine has just started or woken up; wait a moment"
      case .wakeLimit: "the next free wake: ended transfers may wake an app 20 times in a row, and 30 times an hour"
      case .unsteady: "its conditions must be met for a while first"
      case .suspending: "the machine is going to sleep; it continues after waking up"
      case .noPerformer(.some):
        "its process, which was attached before refreshd started; without it, its command runs soon"
      case .noPerformer: "a process of the app that attaches; or add a [[task]] to its file, then refreshctl reload"
      case .concurrency: "a free slot; max_concurrent and max_concurrent_per_user set the limits"
      case .stopping: "the next start of refreshd"
      }
    return Wire.Hold(
      name: name.rawValue, remedy: remedy, untilMicroseconds: liftedAt?.wallMicroseconds(at: wallOffset))
  }
}

// The conditions of the machine and the constraints on them, in a few words for people.

extension Wire.Conditions {
  init(_ conditions: Conditions, for viewer: Viewer) {
    self.init(
      network: viewer.seen(Wire.Condition(conditions.network)), power: viewer.seen(Wire.Condition(conditions.power)),
      powerSaver: viewer.seen(Wire.Condition(powerSaver: conditions.powerSaver)),
      idle: viewer.seen(Wire.Condition(idle: conditions.idle)),
      pressure: viewer.seen(Wire.Condition(pressure: conditions.pressure)))
  }

  /// The name and the value of an observed condition.
  static func field(of observation: Observation) -> (name: String, value: Wire.Condition) {
    switch observation {
    case .network(let reading): ("network", Wire.Condition(reading))
    case .power(let reading): ("power", Wire.Condition(reading))
    case .powerSaver(let reading): ("power_saver", Wire.Condition(powerSaver: reading))
    case .idle(let reading): ("idle", Wire.Condition(idle: reading))
    case .pressure(let reading): ("pressure", Wire.Condition(pressure: reading))
    case .fact(let fact, let reading): (fact.constraint.rawValue, Wire.Condition(reading))
    }
  }
}

extension Wire.Condition {
  /// The condition for a constraint of an app.
  init(_ term: Explanation.Term, of constraints: Constraints, in conditions: Conditions) {
    let machine = Wire.Conditions(conditions, for: .person)
    switch term.constraint {
    case .network: self = machine.network
    case .power: self = machine.power
    case .idle: self = machine.idle
    case .calm: self = machine.pressure
    case .mounted, .present: self.init(conditions.fact(term.constraint, of: constraints))
    case .reachable, .when: self.init(value: term.question?.answer?.text, source: "", problem: nil)
    }
  }

  /// A fact that an app's file names, or the answer of a command.
  init(_ reading: Reading<FactState>) { self.init(reading) { $0.text } }

  fileprivate init(_ reading: Reading<Network>) { self.init(reading) { $0.text } }
  fileprivate init(_ reading: Reading<Power>) { self.init(reading) { $0.text } }
  fileprivate init(powerSaver reading: Reading<Bool>) { self.init(reading) { $0 ? "on" : "off" } }
  fileprivate init(idle reading: Reading<Bool>) { self.init(reading, Conditions.text(isIdle:)) }
  fileprivate init(pressure reading: Reading<Bool>) { self.init(reading, Conditions.text(isUnderPressure:)) }

  private init<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) {
    self.init(value: reading.value.map(text), source: reading.source, problem: reading.problem)
  }
}

extension Constraint {
  /// The remedy for an unmet constraint, for people.
  func remedy(of app: String) -> String {
    switch self {
    case .network: "a network that it asks for; refreshctl why \(app) says which"
    case .power: "the power supply that it asks for; refreshctl why \(app) says which"
    case .idle: "an idle user"
    case .calm: "less pressure on the machine"
    case .mounted: "the file system that it asks for; refreshctl why \(app) says which"
    case .present: "the device that it asks for; refreshctl why \(app) says which"
    case .reachable: "the server that it asks for; refreshctl why \(app) says which"
    case .when: "the command that it asks; refreshctl why \(app) says which"
    }
  }
}
