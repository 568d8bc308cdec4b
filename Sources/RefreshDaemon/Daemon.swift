import Glibc
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// The daemon: it hands events to the engine, saves what changed, performs the effects and arms the one timer.
///
/// An actor on the event loop, so all of it runs on one thread. The order is that of DESIGN section 3, "write-ahead by
/// construction": ``handle(_:)`` lets the engine decide, a commit saves what one turn of the loop or more have changed
/// in one transaction, and only then effects are performed and answers that promise durability are given.
actor Daemon {
  let loop: EventLoop
  let settings: Settings
  let store: RefreshStore
  let journal: DaemonJournal
  let reader: ConfigurationReader
  let environment: TaskEnvironment
  let access = Access.current()
  let startedAt: Moment
  /// Whether this is the first start of a daemon in this boot, and not the first of all.
  private let hasRebooted: Bool
  let launcher: any Launcher
  /// Which launcher it is, and why.
  let choice: ChosenLauncher.Choice
  let conditions: ConditionSources
  let forecaster = Forecaster()
  /// How local time follows from wall time; nil while no app needs to know.
  var zone: LocalZone?

  var engine: Engine
  var configuration: InForce
  var refreshes = Refreshes()
  var leases = Leases()
  /// The processes that perform the refreshes of their apps.
  var attachments = Attachments()
  /// Who is logged in, where apps follow that.
  var sessions = Sessions()
  /// What apps remember of what they fetched.
  var fetches: Fetches
  /// The commands that tell of something and change nothing.
  var tellings = Tellings()
  /// What is known of transfers beside what the engine knows.
  var transfers: Transfers
  /// The processes that move files.
  var workers = TransferWorkers()
  /// Who is told what becomes of transfers.
  var transferWatchers = TransferWatchers()
  /// The transfers that wait for room on a disk.
  var waitingForRoom: Set<TransferID> = []
  var roomReader = RoomReader()
  /// The folders of which it is not known yet how much room there is.
  var foldersLookedAt: Set<String> = []
  /// What is known of pushes beside what the engine knows.
  var pushes: Pushes
  /// Who is told what happens.
  var watchers = Watchers()
  /// The last refresh of each app that has ended.
  var lasts = LastRefreshes()
  /// What is counted from the start on.
  var tally = Tally()
  /// The questions that came before those were read; nil from then on.
  private var early: [() -> Void]? = []
  /// What the next commit saves and what waits for it.
  var pending = Pending()
  var isCommitting = false
  var isLeaving = false
  /// The refreshes that the next daemon goes on with; none before this one stops.
  var left: Set<RefreshID> = []
  /// The refreshes that have ended, and whose tasks the launcher keeps until that is saved.
  var unreleased: [RefreshID] = []
  /// Why the store cannot be written, while it cannot; it keeps what it owes, and the daemon goes on in memory.
  var storeProblem: StoreError?
  /// Brings a commit that may wait, or another try of one that failed.
  var commitTimer: TimerSource?
  var isCommitDue = false
  /// The socket's server, from when the daemon is open.
  var server: Server?

  /// Whether the machine waits for refreshes before it sleeps.
  var holdsSleep = false
  /// Lets the machine sleep although something still runs.
  var sleepTimer: TimerSource?
  /// Looks whether there is room again for transfers that wait for it.
  var roomTimer: TimerSource?
  /// Tells who watches transfers what is new.
  var newsTimer: TimerSource?

  private var wake: TimerSource?
  private var armedFor: Window?
  private var signals: [SignalSource] = []

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// What the start has made ready before there is a daemon.
  struct Parts: Sendable {
    let loop: EventLoop
    let settings: Settings
    let store: RefreshStore
    let loaded: Loaded
    let configuration: Configuration
    let reader: ConfigurationReader
    let journal: DaemonJournal
    let moment: Moment
  }

  init(_ parts: Parts) throws {
    loop = parts.loop
    settings = parts.settings
    store = parts.store
    journal = parts.journal
    reader = parts.reader
    environment = TaskEnvironment(
      socket: parts.settings.socket, isUserDaemon: parts.settings.isUserDaemon, own: parts.settings.environment)
    startedAt = parts.moment
    hasRebooted = parts.loaded.previous == .otherBoot
    let chosen = try ChosenLauncher(parts.configuration.launcher, on: parts.loop, settings: parts.settings)
    (launcher, choice) = (chosen.launcher, chosen.choice)
    conditions = ConditionSources(on: parts.loop, settings: .init(of: parts.settings))
    engine = Engine(
      start: parts.loaded.start, spread: Machine.spread(), states: parts.loaded.states,
      wallOffset: parts.moment.wallOffset, device: parts.loaded.device, learned: parts.loaded.learned,
      transfers: parts.loaded.transfers.mapValues(\.state), pushes: parts.loaded.pushes)
    pushes = Pushes(parts.loaded.pushes, last: parts.loaded.lastPush)
    transfers = Transfers(parts.loaded.transfers, last: parts.loaded.lastTransfer)
    transfers.hasOpen = engine.transferCounts != (0, 0)
    configuration = InForce(parts.configuration, at: parts.moment)
    fetches = Fetches(parts.loaded.validators)
  }

  /// Takes up what a daemon before this one left, puts the configuration in force, serves the socket, and tells the
  /// service manager that all of that is so.
  func open(leftBehind: [AppID: Started]) throws {
    wake = try loop.timer { self.wakeUp() }
    commitTimer = try loop.timer { self.commitNow() }
    sleepTimer = try loop.timer { self.conditions.holdSleep(false) }
    roomTimer = try loop.timer { self.lookForRoom() }
    newsTimer = try loop.timer { self.tellNewsOfTransfers() }
    signals = [
      try loop.onSignal(SIGTERM) { self.stop() },
      try loop.onSignal(SIGINT) { self.stop() },
      try loop.onSignal(SIGHUP) { self.reloadOnSignal() },
    ]
    launcher.onOutput = { key, line in self.takeOutput(key, line) }
    launcher.onEnd = { key, end in self.takeEnd(key, end) }
    let passed = try PassedDescriptor.takeAll()
    let said = takeOver(leftBehind, stored: passed.filter { $0.kind == .stored })
    if hasRebooted { handle(.resumed) }
    beginToWatch()
    handle(configuration.event)
    forgetOldFetches()
    for event in said { handle(event) }
    beginToLookForRoom()
    try serve(on: passed.filter { $0.kind == .listening })
    _ = try loop.watchdog()
    journal.starts(by: choice)
    journal.ready(apps: configuration.apps.count, start: engine.start)
    notify(.ready)
    Task { await self.loadLasts() }
  }

  /// Answers once it is known how each app was last refreshed, which takes a moment after the start.
  func onceLoaded(_ answer: @escaping () -> Void) {
    if early == nil { answer() } else { early?.append(answer) }
  }

  /// Reads how each app was last refreshed, which nobody must wait for before the daemon is ready.
  private func loadLasts() async {
    do throws(StoreError) {
      lasts.load(try await store.lastRefreshes(), of: configuration.apps.map(\.id))
    } catch {
      notice(error)
    }
    let answers = early ?? []
    early = nil
    for answer in answers { answer() }
    Memory.giveBack()
  }

  /// Lets the engine decide on an event, and sees to it that the decision is saved and performed.
  func handle(_ event: Event) {
    let now = readClocks()
    let decision = engine.handle(event, at: now)
    take(decision, at: now)
    tellWatchers(of: event, decision, at: now)
    arm()
    holdSleep()
    if decision.deviceChanged { watch() }
    if !decision.transfersChanged.isEmpty { watchForTransfers() }
    tellBridge()
  }

  /// Gives the instant that it is, and lets the engine know first if the wall clock was set.
  ///
  /// Before each event and each answer that tells a wall time; nothing else hangs on the wall clock.
  @discardableResult
  func readClocks() -> Instant {
    let moment = Moment.now()
    let drift = (moment.wallOffset - engine.wallOffset).inMicroseconds.magnitude
    if drift > Moment.step.inMicroseconds.magnitude {
      pending.clockStepped = true
      take(engine.handle(.clockStepped(wallOffset: moment.wallOffset), at: moment.instant), at: moment.instant)
      arm()
      zone?.look()
    }
    return moment.instant
  }

  /// The timer has gone off, and must be armed anew also for the same instant.
  private func wakeUp() {
    armedFor = nil
    tally.wakes += 1
    handle(.wokeUp)
  }

  private func take(_ decision: Decision, at now: Instant) {
    pending.changed.formUnion(decision.changed)
    pending.deviceChanged = pending.deviceChanged || decision.deviceChanged || decision.deviceLearned
    pending.learned.formUnion(decision.learned)
    pending.openings += decision.opened.map { Opening(app: $0, at: now) }
    pending.ended += decision.ended
    pending.waited += decision.waited
    for record in decision.ended { conclude(record) }
    noteTransfers(decision, at: now)
    notePushes(decision)
    for effect in decision.effects {
      pending.work.append(Pending.Work(effect: effect, app: configuration[effect.app]))
    }
    if !pending.isEmpty { commitSoon() }
  }

  /// Arms the one timer for what the engine derives; the kernel may be as late as the window is long.
  private func arm() {
    let window = engine.nextWake
    guard window != armedFor else { return }
    armedFor = window
    guard let window else {
      wake?.disarm()
      return
    }
    let accuracy = window.earliest.duration(to: window.latest).inMicroseconds
    wake?.arm(at: window.earliest.microseconds, accuracy: max(1, accuracy))
  }
}

extension Effect {
  /// The app that the effect is about.
  var app: AppID {
    switch self {
    case .start(_, let app, _, _), .perform(_, let app, _, _), .startTask(_, let app, _), .warn(_, let app, _),
      .terminate(_, let app, _), .kill(_, let app), .tellStale(_, let app, _), .transfer(_, let app),
      .stopTransfer(_, let app, _):
      app
    }
  }
}
