import RefreshEngine

/// The events, line by line: kept if a person wants to read them, and hashed in any case.
public struct Trace: Sendable {
  private let keepsLines: Bool
  /// The lines, if they are kept.
  public private(set) var lines: [String] = []
  /// FNV-1a over all lines.
  public private(set) var hash: UInt64 = 0xcbf2_9ce4_8422_2325
  /// How many refreshes started.
  public private(set) var starts = 0

  init(keepsLines: Bool) { self.keepsLines = keepsLines }

  mutating func note(_ observation: Observation, at now: Duration) {
    switch observation {
    case .handled(let turn):
      // The event is not hashed, because the order of a configuration's dictionary differs between processes.
      if keepsLines { lines.append("\(now.inMicroseconds) \(turn.event)") }
      for effect in turn.decision.effects { write(text(of: effect), at: now) }
      for wait in turn.decision.waited { write("wait \(wait.app) \(wait.since.duration(to: wait.until))", at: now) }
      for record in turn.decision.ended { write("end \(record.id) \(record.app) \(record.outcome)", at: now) }
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
    for byte in line.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    if keepsLines { lines.append(line) }
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
    case .reportHeld(let id, let app, let holds, let since):
      "report-held \(id) \(app) \(holds.map(\.rawValue)) \(since.microseconds)"
    case .keep(let id, let app, let unit, _): "keep \(id) \(app) \(unit.name)"
    case .giveBack(let id, let app, let unit, _): "give-back \(id) \(app) \(unit.name)"
    case .reportLeftUnit(let app, let unit): "left \(app) \(unit.kept)"
    case .ask(let id, let app, let constraint): "ask \(id) \(app) \(constraint.rawValue)"
    case .reportEnd(let report, let app):
      "report-end \(report.record.id) \(app) \(report.failures)\(report.isFailing ? " failing" : "")"
    case .reportStale(let id, let app, let since): "report-stale \(id) \(app) \(since.microseconds)"
    }
  }
}
