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
    var isOver = false
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
    let readers: [AsyncStream<RefreshEvent>.Continuation] = state.withLock { state in
      switch event {
      case .attached:
        // One more connection of a client that has one is no news.
        if case .attached = state.standing { return [] }
        state.standing = event
      case .disconnected: state.standing = event
      case .phaseChanged(let phase): state.standing = .attached(phase)
      case .started, .ended: break
      }
      return Array(state.readers.values)
    }
    for reader in readers { reader.yield(event) }
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
