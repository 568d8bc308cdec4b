import RefreshAPI
import RefreshEngine
import Systemd

/// The journal entries of the bridge: the state of its sources, without any content of messages.
@MainActor
final class BridgeJournal {
  private let journal = Journal(identifier: "refresh-push")
  /// For each source the time of its last refusal in the journal, and the number omitted since.
  private var refusals: [String: (writtenAt: ContinuousClock.Instant, omitted: Int)] = [:]
  /// The least time between two refusals of a source in the journal, so that a publisher cannot fill the journal.
  private static let refusalPause = Duration.seconds(60)

  func connected(_ source: any Source) {
    write("\(source.label) is connected", source)
  }

  func limited(_ source: any Source, _ problem: String) {
    write("\(source.label) is connected, with a problem: \(problem)", source, priority: .warning)
  }

  func lost(_ source: any Source, _ problem: String, retryIn pause: Duration?) {
    let next = pause.map { "next attempt in \($0.inSeconds)" } ?? "no further attempt until push.toml is reloaded"
    write("\(source.label) is not connected: \(problem); \(next)", source, priority: .warning)
  }

  func refused(_ source: any Source, app: String?, _ reason: String, at now: ContinuousClock.Instant) {
    var omitted = 0
    if let last = refusals[source.name] {
      guard last.writtenAt + Self.refusalPause <= now else {
        refusals[source.name] = (last.writtenAt, last.omitted + 1)
        return
      }
      omitted = last.omitted
    }
    refusals[source.name] = (now, 0)
    let others = omitted > 0 ? " (and \(omitted) more since the last such line)" : ""
    // A topic may name anything, at any length.
    let app = app.flatMap(AppID.init).map { " for \($0)" } ?? ""
    write("\(source.label) had a message\(app) that is refused: \(reason)\(others)", source, priority: .warning)
  }

  func daemonIsGone(_ problem: String) {
    journal.write(JournalEntry("\(problem); messages wait", priority: .warning))
  }

  func daemonIsThere() { journal.write(JournalEntry("refreshd accepts messages")) }

  func mayConnect(_ may: Bool) {
    journal.write(
      JournalEntry(may ? "The network may be used" : "The network may not be used: nothing is connected until it may"))
  }

  func configured(_ count: Int) {
    journal.write(
      JournalEntry(
        count == 0
          ? "No source is configured; add one to push.toml, and reload"
          : "Listening to \(count) \(count == 1 ? "source" : "sources")", priority: count == 0 ? .notice : .info))
  }

  func refused(configuration problems: [String]) {
    for problem in problems {
      journal.write(
        JournalEntry("The new push.toml was rejected, the old one stays in force: \(problem)", priority: .error))
    }
  }

  func cannot(_ description: String) { journal.write(JournalEntry(description, priority: .error)) }

  private func write(_ message: String, _ source: any Source, priority: JournalEntry.Priority = .info) {
    journal.write(
      JournalEntry(message, priority: priority, fields: [JournalEntry.Field("REFRESH_SOURCE", source.name)]))
  }
}

extension Source {
  /// The name of the source for people.
  var label: String { "\(kind.word) \(name)" }
}

extension Wire.SourceKind {
  /// The name of the kind for people.
  var word: String {
    switch self {
    case .ntfy: "ntfy"
    case .sse: "Event stream"
    case .mqtt: "Broker"
    }
  }
}

extension Duration {
  /// The duration in whole seconds, such as `12 s`.
  fileprivate var inSeconds: String { "\(max(1, milliseconds / 1000)) s" }
}

/// The line about the bridge in `systemctl status` (sd_notify(3), `STATUS=`).
enum PushStatusLine {
  /// The sentences that apply; problems contain no secrets.
  static func text(
    connected: Int, of count: Int, mayConnect: Bool, daemonProblem: String?, problems: [String],
    refusedConfiguration: [String] = []
  ) -> String {
    var sentences = [count == 0 ? "No source is configured." : "Connected to \(connected) of \(count) sources."]
    if let first = refusedConfiguration.first {
      sentences.append("The new push.toml was rejected, the old one stays in force: \(first)")
    }
    if let daemonProblem { sentences.append("Messages wait: \(daemonProblem).") }
    if count > 0, !mayConnect {
      sentences.append("The network may not be used.")
    } else if let first = problems.first {
      sentences.append("\(first)\(problems.count > 1 ? " (and \(problems.count - 1) more)" : "").")
    }
    return sentences.joined(separator: " ")
  }
}
