import RefreshAPI
import Synchronization

/// An event of an app, as ``RefreshClient/events`` delivers it.
public enum RefreshEvent: Hashable, Sendable {
  /// The client is connected, and the app is in this phase.
  ///
  /// This is the first event of a connected client, and the event that follows ``disconnected(_:retryingIn:)``.
  case attached(RefreshPhase)
  /// The app has entered another phase.
  case phaseChanged(RefreshPhase)
  /// A refresh has started, in this process or elsewhere, such as a command of the app's file.
  case started(id: String, RefreshTrigger)
  /// A task of the app's file has ended; others of its refresh may still run.
  ///
  /// `message` is what the task said, or the reason of its failure; nil if there is neither.
  case taskEnded(id: String, task: String, RefreshOutcome, message: String?)
  /// A refresh has ended.
  ///
  /// `message` is the message of its tasks, or the reason of its failure; nil if there is neither.
  case ended(id: String, RefreshOutcome, message: String?)
  /// A push arrived that starts no refresh, because it has no `content-available`.
  ///
  /// `payload` is its JSON text. Only clients with a handler receive this event. A push that starts a refresh is passed
  /// to the handler as ``RefreshContext/payload``.
  case push(payload: String, contentID: String?)
  /// A push that waited to start a refresh was dropped, because too many came after it.
  ///
  /// `reason` explains this in words. Only clients with a handler receive this event.
  case pushDropped(contentID: String?, reason: String?)
  /// The daemon is gone or refuses the client, which retries by itself after the given pause.
  ///
  /// The handler and the leases stay in force. Each failed attempt sends this event.
  case disconnected(RefreshError, retryingIn: Duration)
}

extension RefreshEvent {
  /// Converts an event of an attachment; nil for a kind of a newer daemon that this library does not know.
  init?(_ event: Wire.AttachEvent) {
    switch (event.kind, event.refresh, event.outcome, event.phase) {
    case (.push, _, _, _):
      guard let payload = event.payload else { return nil }
      self = .push(payload: payload, contentID: event.contentID)
    case (.pushDropped, _, _, _): self = .pushDropped(contentID: event.contentID, reason: event.message)
    case (.started, let id?, _, _): self = .started(id: id, event.trigger.map(RefreshTrigger.init) ?? .other)
    case (.taskEnded, let id?, let outcome?, _):
      guard let task = event.task else { return nil }
      self = .taskEnded(id: id, task: task, RefreshOutcome(outcome), message: event.message ?? event.cause)
    case (.ended, let id?, let outcome?, _):
      self = .ended(id: id, RefreshOutcome(outcome), message: event.message ?? event.cause)
    case (.phaseChanged, _, _, let phase?): self = .phaseChanged(RefreshPhase(phase))
    default: return nil
    }
  }

  /// Converts an event of `Watch`; nil for an event that does not concern the app itself.
  init?(_ event: Wire.WatchEvent) {
    switch event.kind {
    case .started:
      guard let id = event.id, let trigger = event.trigger else { return nil }
      self = .started(id: id, RefreshTrigger(trigger))
    case .ended:
      guard let refresh = event.refresh else { return nil }
      let messages = refresh.tasks.map(\.message).filter { !$0.isEmpty }.joined(separator: "; ")
      self = .ended(
        id: refresh.id, RefreshOutcome(refresh.outcome), message: messages.isEmpty ? refresh.cause?.text : messages)
    case .taskEnded:
      guard let id = event.id, let task = event.task, let outcome = event.outcome else { return nil }
      self = .taskEnded(id: id, task: task, RefreshOutcome(outcome), message: event.text)
    case .phaseChanged:
      guard let phase = event.phase else { return nil }
      self = .phaseChanged(RefreshPhase(phase))
    default: return nil
    }
  }
}

/// The phase of an app, by its signals and leases.
public enum RefreshPhase: Hashable, Sendable, CaseIterable {
  /// The user looks at the app: the foreground interval is in force.
  case foreground
  /// The user does not look at the app: the background interval is in force.
  case background
  /// The user is logged out: the app is not refreshed until the signal `login`.
  case loggedOut
}

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
        // Another connection is not an event; only a change of phase is.
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
