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
        policy.backgroundInterval, setTo: overrides.backgroundInterval, floor: limits.backgroundFloor))
  }
}

extension Wire.Interval {
  fileprivate init(_ configured: Interval, setTo override: Interval?, floor: Duration) {
    let inForce = override ?? configured
    self.init(
      inForce: inForce.text, inForceMicroseconds: inForce.spacing(floor: floor)?.inMicroseconds,
      configured: configured.text, overridden: override != nil)
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
