import Synchronization

/// Those who read ``RefreshClient/events``.
final class Subscribers: Sendable {
  /// How many events wait for a reader that falls behind; of more, the oldest are dropped.
  private static let room = 100

  private struct State {
    var readers: [Int: AsyncStream<RefreshEvent>.Continuation] = [:]
    var next = 0
    /// How the client stands; a newcomer hears of it first.
    var standing: RefreshEvent?
    /// The refresh that was last told to have begun, and the one that was last told to have ended.
    var started: String?
    var ended: String?
    var isOver = false

    /// What of this is news.
    ///
    /// When a client gets its handler, two connections tell it the same for a moment. An app has one refresh at a time,
    /// so the last id is enough to tell a repetition.
    mutating func news(of event: RefreshEvent) -> RefreshEvent? {
      switch event {
      case .attached(let phase), .phaseChanged(let phase):
        guard case .attached(let before) = standing else {
          standing = .attached(phase)
          return standing
        }
        standing = .attached(phase)
        // One more connection of a client that has one is no news, only another phase is.
        return phase == before ? nil : .phaseChanged(phase)
      case .disconnected:
        standing = event
        return event
      case .push, .pushDropped:
        // Only an attachment tells them, and a client has one.
        return event
      case .started(let id, _):
        defer { started = id }
        return id == started ? nil : event
      case .ended(let id, _, _):
        defer { ended = id }
        return id == ended ? nil : event
      }
    }
  }

  private let state = Mutex(State())

  /// What happens from now on; before it, how the client stands.
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

  func tell(_ event: RefreshEvent) {
    let (news, readers) = state.withLock { ($0.news(of: event), Array($0.readers.values)) }
    guard let news else { return }
    for reader in readers { reader.yield(news) }
  }

  /// There will be no more events.
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
