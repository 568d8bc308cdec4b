import RefreshEngine

/// The events, line by line: kept if a person wants to read them, and hashed in any case.
public struct Trace: Sendable {
  private let keepsLines: Bool
  /// The lines, if they are kept.
  public private(set) var lines: [String] = []
  /// The hash of all lines.
  public var hash: UInt64 { lineHash.value }
  /// The hash of all that the lines leave out: what each decision saves, the wake that follows it, and the verdicts.
  public var decisionHash: UInt64 { decisions.value }
  private var lineHash = TextHash()
  private var decisions = TextHash()
  /// How many refreshes started.
  public private(set) var starts = 0

  init(keepsLines: Bool) { self.keepsLines = keepsLines }

  mutating func note(_ observation: Observation, at now: Duration, brain: Brain?, instant: Instant) {
    switch observation {
    case .handled(let turn):
      // The event is not hashed, because the order of a configuration's dictionary differs between processes.
      if keepsLines { lines.append("\(now.inMicroseconds) \(turn.event)") }
      for effect in turn.decision.effects { write(text(of: effect), at: now) }
      for wait in turn.decision.changes.history.waits {
        write("wait \(wait.app) \(wait.since.duration(to: wait.until))", at: now)
      }
      for record in turn.decision.changes.history.refreshes {
        write("end \(record.id) \(record.app) \(record.outcome)", at: now)
      }
      if let brain { note(turn.decision, of: brain, at: instant) }
    case .performed(let effect): starts += effect.beginning == nil ? 0 : 1
    case .saved: break
    case .sleeps: write("sleeps", at: now)
    case .daemonStarted: write("daemon started", at: now)
    case .daemonGone: write("daemon gone", at: now)
    case .resumed: write("resumed", at: now)
    case .finished: write("finished", at: now)
    }
  }

  private mutating func write(_ text: String, at now: Duration) {
    let line = "\(now.inMicroseconds) \(text)"
    lineHash.add(line)
    if keepsLines { lines.append(line) }
  }

  /// Hashes a decision in an order of its own: that of a set differs between processes.
  private mutating func note(_ decision: Decision, of brain: Brain, at instant: Instant) {
    let changes = decision.changes
    for id in changes.apps.sorted() { decisions.add("app \(id) \(text(of: brain.verdict(on: id, at: instant)))") }
    for id in changes.learned.sorted() { decisions.add("learned \(id)") }
    for id in changes.erased.sorted() { decisions.add("erased \(id)") }
    for id in changes.restored.sorted() { decisions.add("kept \(id)") }
    let gone = changes.transfers.filter { brain.engine.transferState(of: $0) == nil }
    for id in changes.transfers.subtracting(gone).sorted() { decisions.add("transfer \(id)") }
    for id in gone.sorted() { decisions.add("transfer removed \(id)") }
    let pushes = changes.pushes.sorted { $0.key < $1.key }
    for (id, change) in pushes {
      if case .kept = change { decisions.add("push \(id) kept") } else { decisions.add("push \(id) gone") }
    }
    for (id, change) in pushes where change == .merged { decisions.add("push merged \(id)") }
    for push in changes.history.droppedPushes { decisions.add("push dropped \(push.id) \(push.app)") }
    for session in decision.sessionsDropped.sorted() { decisions.add("wake dropped \(session.app) \(session.name)") }
    for task in decision.tasksEnded { decisions.add("task \(task.refresh) \(task.app) \(task.deadline.microseconds)") }
    for opening in changes.history.openings { decisions.add("opening \(opening.app) \(opening.at.microseconds)") }
    for (id, areForgotten) in changes.history.openingsForgotten.sorted(by: { $0.key < $1.key }) {
      decisions.add("openings \(id) \(areForgotten)")
    }
    decisions.add("device \(changes.device.contains(.pause)) \(changes.device.contains(.habits))")
    let wake = brain.engine.nextWake
    decisions.add("wake \(wake.map { "\($0.earliest.microseconds) \($0.latest.microseconds)" } ?? "-")")
  }

  private func text(of verdict: Verdict) -> String {
    switch verdict {
    case .ready(let due): "ready \(due.trigger.rawValue)"
    case .notDue(let due): "not due \(due.window.earliest.microseconds)"
    case .held(let holds, _): "held \(holds.map(\.name.rawValue))"
    case .clear: "clear"
    case .refreshing(let id): "refreshing \(id)"
    }
  }

  private func text(of effect: Effect) -> String {
    switch effect {
    case .start(let id, let app, let trigger, _): "start \(id) \(app) \(trigger.rawValue)"
    case .perform(let id, let app, let trigger, _): "perform \(id) \(app) \(trigger.rawValue)"
    case .startTask(let id, let app, let task): "start-task \(id) \(app) \(task)"
    case .warn(let id, let app, _): "warn \(id) \(app)"
    case .terminate(let id, let app, let reason): "terminate \(id) \(app) \(reason.rawValue)"
    case .kill(let id, let app): "kill \(id) \(app)"
    case .reportStuck(let id, let app): "stuck \(id) \(app)"
    case .transfer(let id, let app): "transfer \(id) \(app)"
    case .stopTransfer(let id, let app, let reason): "stop-transfer \(id) \(app) \(reason.rawValue)"
    case .reportHeld(let run, let holds, let since):
      "report-held \(run.id) \(run.app) \(holds.map(\.rawValue)) \(since.microseconds)"
    case .keep(let run, let unit, _): "keep \(run.id) \(run.app) \(unit.name)"
    case .giveBack(let run, let unit, _): "give-back \(run.id) \(run.app) \(unit.name)"
    case .reportLeftUnit(let app, let unit): "left \(app) \(unit.kept)"
    case .ask(let run): "ask \(run.id) \(run.app) \(run.constraint?.rawValue ?? "")"
    case .reportEnd(let report, let app):
      "report-end \(report.record.id) \(app) \(report.failures)\(report.isFailing ? " failing" : "")"
    case .reportStale(let run, let since): "report-stale \(run.id) \(run.app) \(since.microseconds)"
    }
  }
}

/// FNV-1a over texts: the same in each process, which a `Hasher` is not.
private struct TextHash: Sendable {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ text: String) {
    for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}
