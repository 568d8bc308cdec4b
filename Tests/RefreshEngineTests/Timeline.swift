import RefreshEngine

/// Drives an engine through a script as the daemon does: saves, performs, wakes at `nextWake`; and writes the trace.
struct Timeline {
  /// A process that ends by itself, unless something ends it before.
  struct Process {
    var refresh: RefreshID
    var app: AppID
    var task: Int
    var endsAt: Duration?
    var exit: TaskEnd.Exit
    var isStubborn: Bool
    var isImmortal: Bool
  }

  /// The time since the script began.
  private(set) var now = Duration.zero
  private(set) var trace: [String] = []
  var engine: Engine?
  var apps: [AppID: AppLine] = [:]
  var limits = Limits()
  var processes: [Process] = []
  private var saved: [AppID: AppState] = [:]
  private(set) var savedTransfers: [TransferID: TransferState] = [:]
  private var savedPushes: [PushID: (app: AppID, push: Push)] = [:]
  private var start: UInt32 = 0
  private var bootedAt = Duration.zero
  /// How wrong the wall clock is.
  private var clockError = Duration.zero
  private var savedWallOffset = Duration.zero

  init() { startDaemon() }

  mutating func play(_ script: Script) throws {
    for line in script.lines {
      passTime(until: line.at)
      try take(line.words)
    }
  }

  mutating func handle(_ event: Event) {
    let instant = instant
    guard let decision = engine?.handle(event, at: instant) else { return }
    for id in decision.changes.apps { saved[id] = engine?.state(of: id) }
    for id in decision.changes.transfers { savedTransfers[id] = engine?.transferState(of: id) }
    for (id, change) in decision.changes.pushes {
      if case .kept(let app, let push) = change { savedPushes[id] = (app, push) } else { savedPushes[id] = nil }
    }
    savedWallOffset = engine?.wallOffset ?? savedWallOffset
    for effect in decision.effects {
      if effect.isStart { continue }
      perform(effect)
    }
    for session in decision.sessionsDropped { write("drop-wake \(session.app.name) \(session.name)") }
    for dropped in decision.changes.history.droppedPushes {
      write("drop \(dropped.app.name) \(dropped.contentID ?? "-")")
    }
    for record in decision.changes.history.refreshes { write(text(of: record)) }
    for effect in decision.effects {
      if effect.isStart { perform(effect) }
    }
  }

  mutating func write(_ line: String) { trace.append("\(now.text) \(line)") }

  func timeText(_ instant: Instant) -> String { (Duration.microseconds(instant.microseconds) + bootedAt).text }

  var instant: Instant { Instant(microseconds: (now - bootedAt).inMicroseconds) }

  var wallOffset: Duration { clockError + bootedAt }

  mutating func setClock(by step: Duration) { clockError += step }

  mutating func startDaemon(survivors: [RefreshID: Set<Int>] = [:]) {
    start += 1
    engine = Engine(
      start: start, spread: Spread(machine: 1), states: saved, wallOffset: wallOffset, transfers: savedTransfers,
      pushes: Dictionary(grouping: savedPushes.values) { $0.app }
        .mapValues { $0.map(\.push).sorted { $0.id < $1.id } })
    for (id, tasks) in survivors { handle(.survived(id, tasks: tasks)) }
    if !apps.isEmpty { handle(.configured(limits, apps.mapValues(\.policy))) }
  }

  /// The boot clock begins again; saved instants go through wall time, and none stays in the future.
  mutating func boot() {
    bootedAt = now
    let shift = savedWallOffset - wallOffset
    let here = instant
    func mapped(_ instant: Instant) -> Instant { min(instant + shift, here) }
    saved = saved.mapValues { $0.moved(mapped, ahead: mapped) }
    savedTransfers = savedTransfers.mapValues { $0.moved(mapped) }
    savedPushes = savedPushes.mapValues { ($0.app, $0.push.moved(mapped)) }
    startDaemon()
  }

  /// The machine sleeps, and its processes with it.
  mutating func suspend(for length: Duration) {
    now += length
    for index in processes.indices { processes[index].endsAt = processes[index].endsAt.map { $0 + length } }
  }

  private mutating func passTime(until end: Duration) {
    while true {
      let wake = engine?.nextWake.map { max(now, .microseconds($0.earliest.microseconds) + bootedAt) }
      let ending = processes.compactMap(\.endsAt).min()
      guard let next = [wake, ending].compactMap({ $0 }).min(), next <= end else { break }
      now = max(now, next)
      if let index = processes.firstIndex(where: { $0.endsAt == next }) {
        let process = processes.remove(at: index)
        handle(.taskEnded(process.refresh, task: process.task, TaskEnd(exit: process.exit)))
      } else {
        handle(.wokeUp)
      }
    }
    now = max(now, end)
  }

  private mutating func perform(_ effect: Effect) {
    switch effect {
    case .start(let id, let app, let trigger, _):
      write("start \(id) \(app.name) (\(trigger.rawValue)\(news(of: id)))")
      for (task, policy) in (apps[app]?.policy.tasks ?? []).enumerated() where policy.after.isEmpty {
        run(id, app, task: task)
      }
    case .perform(let id, let app, let trigger, _):
      write("perform \(id) \(app.name) (\(trigger.rawValue))")
    case .startTask(let id, let app, let task):
      write("start-task \(id) \(apps[app]?.policy.tasks[task].name ?? "")")
      run(id, app, task: task)
    case .warn(let id, let app, _):
      write("warn \(id) \(app.name)")
    case .terminate(let id, let app, let reason):
      write("terminate \(id) \(app.name) (\(reason.rawValue))")
      end(id, at: now + .seconds(1), exit: .signalled(15))
    case .transfer(let id, let app): write("transfer \(id) \(app.name)")
    case .stopTransfer(let id, let app, let reason): write("stop-transfer \(id) \(app.name) (\(reason.rawValue))")
    case .reportHeld(let run, let holds, let since):
      write("report-held \(run.app.name) since \(timeText(since)): \(holds.map(\.rawValue).joined(separator: " "))")
    case .reportEnd(let report, let app):
      let streak = "\(report.failures) in a row\(report.isFailing ? ": failing" : "")"
      write("report-end \(report.record.id) \(app.name) \(streak)")
    case .reportStale(let run, let since): write("report-stale \(run.app.name) since \(timeText(since))")
    case .ask(let run):
      write("ask \(run.id) \(run.app.name) \(run.constraint?.rawValue ?? "")")
      if let says = apps[run.app]?.says {
        handle(.answered(run, FactState(isMet: says, text: says ? "fine" : "exit code 1")))
      }
    case .keep(let run, let unit, let isKept):
      write("keep \(run.id) \(run.app.name) \(unit.name)\(isKept ? " (kept before)" : "")")
    case .giveBack(let run, let unit, _): write("give-back \(run.id) \(run.app.name) \(unit.name)")
    case .reportLeftUnit(let app, let unit): write("left \(app.name) \(unit.kept)")
    case .reportStuck(let id, let app): write("stuck \(id) \(app.name)")
    case .kill(let id, let app):
      write("kill \(id) \(app.name)")
      end(id, at: now, exit: .signalled(9))
    }
  }

  private mutating func run(_ id: RefreshID, _ app: AppID, task: Int) {
    guard let line = apps[app] else { return }
    processes.append(
      Process(
        refresh: id, app: app, task: task, endsAt: line.takes.map { now + $0 },
        exit: line.exit < 0 ? .notStarted("no such program") : .exited(line.exit),
        isStubborn: line.isStubborn, isImmortal: line.isImmortal))
  }

  private mutating func end(_ id: RefreshID, at instant: Duration, exit: TaskEnd.Exit) {
    for index in processes.indices where processes[index].refresh == id {
      if processes[index].isImmortal || exit == .signalled(15) && processes[index].isStubborn { continue }
      if let endsAt = processes[index].endsAt, endsAt < instant { continue }
      processes[index].endsAt = instant
      processes[index].exit = exit
    }
  }
}

extension Effect {
  /// Whether it begins a refresh.
  fileprivate var isStart: Bool {
    switch self {
    case .start, .perform: true
    default: false
    }
  }
}

extension AppID {
  /// The app's name in a script.
  var name: String { String(description.dropFirst("app.".count)) }
}
