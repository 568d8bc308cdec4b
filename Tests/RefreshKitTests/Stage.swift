@testable import RefreshKit

/// A client of a daemon, and its events in words.
final class Stage {
  let client: RefreshClient
  private var events: AsyncStream<RefreshEvent>.Iterator

  /// Connects, and reads the first event.
  init(_ daemon: Daemon) async throws {
    client = try await RefreshClient.connect(app: Daemon.app, socket: daemon.socket)
    events = client.events.makeAsyncIterator()
    _ = await events.next()
  }

  /// The next events up to the first one whose text begins with `kind`.
  func events(through kind: String) async -> [String] {
    var words: [String] = []
    while let event = await events.next() {
      words.append(event.words)
      if event.words.hasPrefix(kind) { return words }
    }
    return words
  }
}

extension RefreshEvent {
  fileprivate var words: String {
    switch self {
    case .attached(let phase): "attached \(phase)"
    case .phaseChanged(let phase): "phase \(phase)"
    case .started(let id, let trigger): "started \(id) \(trigger)"
    case .taskEnded(let id, let task, let outcome, let message): "task \(id) \(task) \(outcome) \(message ?? "")"
    case .ended(let id, let outcome, let message): "ended \(id) \(outcome) \(message ?? "")"
    case .push(let payload, let contentID): "push \(contentID ?? "") \(payload)"
    case .pushDropped(let contentID, let reason): "dropped \(contentID ?? "") \(reason ?? "")"
    case .disconnected(let error, _): "disconnected \(error.code)"
    }
  }
}
