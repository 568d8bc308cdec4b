import RefreshAPI
import RefreshEngine
import Systemd

/// What the bridge tells the journal: sources and how they are, and nothing of messages.
@MainActor
final class BridgeJournal {
  private let journal = Journal(identifier: "refresh-push")
  /// When a refusal of a source was last told, and how many were not told since.
  private var refusals: [String: (toldAt: ContinuousClock.Instant, untold: Int)] = [:]
  /// So long after one refusal of a source others are only counted: whoever publishes could fill the journal.
  private static let refusalPause = Duration.seconds(60)

  func connected(_ source: any Source) {
    write("\(source.label) is connected", source)
  }

  func lost(_ source: any Source, _ problem: String, retryIn pause: Duration?) {
    let next = pause.map { "another try in \($0.inSeconds)" } ?? "no other try before push.toml is read again"
    write("\(source.label) is not connected: \(problem); \(next)", source, priority: .warning)
  }

  func refused(_ source: any Source, app: String?, _ reason: String, at now: ContinuousClock.Instant) {
    var untold = 0
    if let last = refusals[source.name] {
      guard last.toldAt + Self.refusalPause <= now else {
        refusals[source.name] = (last.toldAt, last.untold + 1)
        return
      }
      untold = last.untold
    }
    refusals[source.name] = (now, 0)
    let others = untold > 0 ? " (and \(untold) more since the last such line)" : ""
    // What a topic names may be anything, and of any length.
    let app = app.flatMap(AppID.init).map { " for \($0)" } ?? ""
    write("\(source.label) had a message\(app) that is refused: \(reason)\(others)", source, priority: .warning)
  }

  func daemonIsGone(_ problem: String) {
    journal.write(Entry("\(problem); messages wait", priority: .warning))
  }

  func daemonIsThere() { journal.write(Entry("refreshd takes messages")) }

  func mayConnect(_ may: Bool) {
    journal.write(
      Entry(may ? "The network may be used" : "The network may not be used: nothing is connected until it may"))
  }

  func configured(_ count: Int) {
    journal.write(
      Entry(
        count == 0
          ? "No source is configured; write one into push.toml, and reload"
          : "Listening to \(count) \(count == 1 ? "source" : "sources")", priority: count == 0 ? .notice : .info))
  }

  func refused(configuration problems: [String]) {
    for problem in problems {
      journal.write(Entry("The new push.toml is not in force, the old one is: \(problem)", priority: .error))
    }
  }

  func cannot(_ description: String) { journal.write(Entry(description, priority: .error)) }

  private func write(_ message: String, _ source: any Source, priority: Entry.Priority = .info) {
    journal.write(
      Entry(message, priority: priority, fields: [Entry.Field("REFRESH_SOURCE", source.name)]))
  }
}

extension Source {
  /// What people call it.
  var label: String { "\(kind.word) \(name)" }
}

extension Wire.SourceKind {
  /// Its name as people write it.
  var word: String {
    switch self {
    case .ntfy: "ntfy"
    case .sse: "Event stream"
    case .mqtt: "Broker"
    }
  }
}

extension Duration {
  /// For a sentence, such as `12 s`.
  fileprivate var inSeconds: String { "\(max(1, milliseconds / 1000)) s" }
}
