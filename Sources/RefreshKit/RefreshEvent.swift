import RefreshAPI

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
