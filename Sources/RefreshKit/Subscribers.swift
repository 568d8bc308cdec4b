import Synchronization

/// The readers of ``RefreshClient/events``.
final class Subscribers: Sendable {
  /// The events that are buffered for a slow reader; when there are more, the oldest are dropped.
  private static let room = 100

  private struct State {
    var readers: [Int: AsyncStream<RefreshEvent>.Continuation] = [:]
    var next = 0
    /// The state of the connection, which a new reader receives first.
    var standing: RefreshEvent?
    /// The refreshes whose start and end were published last.
    var started: String?
    var ended: String?
    /// The tasks of the last refresh whose ends were published.
    var tasksEnded: (refresh: String, names: Set<String>) = ("", [])
    var isOver = false

    /// The event to publish; nil if the readers know it already.
    ///
    /// When a client gets its handler, two connections report the same events for a moment. An app has one refresh at a
    /// time, so the last id is enough to detect a duplicate.
    mutating func news(of event: RefreshEvent) -> RefreshEvent? {
      switch event {
      case .attached(let phase), .phaseChanged(let phase):
        guard case .attached(let before) = standing else {
          standing = .attached(phase)
          return standing
        }
        standing = .attached(phase)
        // A further connection is no event by itself; only a change of phase is.
        return phase == before ? nil : .phaseChanged(phase)
      case .disconnected:
        standing = event
        return event
      case .push, .pushDropped:
        // Only an attachment reports pushes, and a client has only one.
        return event
      case .started(let id, _):
        defer { started = id }
        return id == started ? nil : event
      case .taskEnded(let id, let task, _, _):
        if tasksEnded.refresh != id { tasksEnded = (id, []) }
        return tasksEnded.names.insert(task).inserted ? event : nil
      case .ended(let id, _, _):
        defer { ended = id }
        return id == ended ? nil : event
      }
    }
  }

  private let state = Mutex(State())

  /// A new sequence of events, which begins with the state of the connection.
  func subscribe() -> AsyncStream<RefreshEvent> {
    let (stream, reader) = AsyncStream.makeStream(
      of: RefreshEvent.self, bufferingPolicy: .bufferingNewest(Self.room))
    let number = state.withLock { state -> Int? in
      guard !state.isOver else { return nil }
      state.readers[state.next] = reader
      if let standing = state.standing { reader.yield(standing) }
      defer { state.next += 1 }
      return state.next
    }
    guard let number else {
      reader.finish()
      return stream
    }
    reader.onTermination = { [weak self] _ in self?.forget(number) }
    return stream
  }

  func publish(_ event: RefreshEvent) {
    let (news, readers) = state.withLock { ($0.news(of: event), Array($0.readers.values)) }
    guard let news else { return }
    for reader in readers { reader.yield(news) }
  }

  /// Ends all sequences.
  func finish() {
    let readers = state.withLock { state in
      state.isOver = true
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }
  }

  private func forget(_ number: Int) {
    state.withLock { $0.readers[number] = nil }
  }
}
