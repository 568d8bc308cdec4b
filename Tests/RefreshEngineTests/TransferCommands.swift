import RefreshEngine

extension Timeline {
  /// Takes a line about transfers.
  mutating func tellOfTransfers(_ command: String, _ rest: [String]) throws {
    let id = TransferID(UInt64(try rest.number(0)))
    switch command {
    case "enqueue": try enqueue(id, rest)
    case "pause-transfer", "resume-transfer": handle(.transferPaused(id, command == "pause-transfer"))
    case "cancel-transfer": handle(.transferCancelled(id))
    case "prioritize": handle(.transferPrioritized(id, Int32(try rest.number(1))))
    case "moved": handle(.transferMoved(id, bytes: Int64(try rest.number(1))))
    case "fetched": handle(.transferFetched(id))
    case "room": handle(.roomFound(id))
    case "report": handle(.transferReported(id, try report(Array(rest.dropFirst()))))
    default:
      let verdict = engine?.transferVerdict(on: id, at: instant)
      write("transfer \(id): \(verdict.map(text) ?? "forgotten")")
    }
  }

  private mutating func enqueue(_ id: TransferID, _ rest: [String]) throws {
    var policy = TransferPolicy(
      session: TransferSession(app: try appID(try rest.word(1)), name: "default"), host: "host", enqueuedAt: instant)
    for word in rest.dropFirst(2) {
      let parts = word.split(separator: "=").map(String.init)
      switch parts[0] {
      case "session": policy.session.name = try parts.word(1)
      case "host": policy.host = try parts.word(1)
      case "network": policy.network = try parts.word(1).read(NetworkConstraint.init(rawValue:))
      case "priority": policy.priority = try parts.word(1).read { Int32($0) }
      default: throw ScriptError(text: "no such word: \(word)")
      }
    }
    handle(.enqueued([Enqueued(id: id, policy: policy)]))
  }

  private func report(_ words: [String]) throws -> TransferReport {
    switch try words.word(0) {
    case "done": .done
    case "failed": .failed
    case "wrong": .wrong
    case "stopped": .stopped
    case "lost": .lost(hasProgressed: words.last == "progressed")
    case "no-space": .noSpace(needed: Int64(try words.number(1)))
    case "retry":
      .retry(
        after: words.count > 1 && words[1] != "progressed" ? try duration(words[1]) : nil,
        hasProgressed: words.last == "progressed")
    default: throw ScriptError(text: "no such report: \(words)")
    }
  }

  private func text(of verdict: TransferVerdict) -> String {
    switch verdict {
    case .ready: "ready"
    case .notDue(let until): "not due until \(timeText(until))"
    case .held(let holds): "held \(holds.map(\.name.rawValue).joined(separator: ", "))"
    case .transferring: "transferring"
    case .stopping(let reason): "stopping (\(reason.rawValue))"
    case .paused: "paused"
    case .noSpace(let needed): "waits for \(needed) bytes"
    case .ended(let result): "ended \(result.rawValue)"
    }
  }
}
