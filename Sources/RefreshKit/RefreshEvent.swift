import RefreshAPI

/// What happens to an app, as ``RefreshClient/events`` tells it.
public enum RefreshEvent: Hashable, Sendable {
  /// The daemon knows of this process, and the app is in this phase.
  ///
  /// The first event if the client is connected, and the one after ``disconnected(_:retryingIn:)``.
  case attached(RefreshPhase)
  /// The app is in another phase.
  case phaseChanged(RefreshPhase)
  /// A refresh has begun, by this process or by another, such as the command in the app's file.
  case started(id: String, RefreshTrigger)
  /// A refresh has ended.
  ///
  /// `message` is what its tasks said, or why it failed; nil if there is nothing to say.
  case ended(id: String, RefreshOutcome, message: String?)
  /// A push has come that wakes nobody, because it has no `content-available`.
  ///
  /// The payload is its JSON text. Told only to a client with a handler. A push that does wake the app is not told here:
  /// the handler is called with ``RefreshContext/payload``.
  case push(payload: String, contentID: String?)
  /// A push that waited to wake the app was dropped, because too many came after it.
  ///
  /// `reason` is that in words. Told only to a client with a handler.
  case pushDropped(contentID: String?, reason: String?)
  /// The daemon is gone or refuses; the client connects anew in so long, without being asked.
  ///
  /// What it was told stays so: the handler, and the leases. Told for each attempt that failed.
  case disconnected(RefreshError, retryingIn: Duration)
}

extension RefreshEvent {
  /// What an attached app is told that is not for its handler; nil for what a later daemon has and this library has no word for.
  init?(_ event: Wire.AttachEvent) {
    switch (event.kind, event.refresh, event.outcome, event.phase) {
    case ("push", _, _, _):
      guard let payload = event.payload else { return nil }
      self = .push(payload: payload, contentID: event.contentID)
    case ("push_dropped", _, _, _): self = .pushDropped(contentID: event.contentID, reason: event.message)
    case ("started", let id?, _, _): self = .started(id: id, RefreshTrigger(event.trigger))
    case ("ended", let id?, let outcome?, _):
      self = .ended(id: id, RefreshOutcome(outcome), message: event.message ?? event.cause)
    case ("phase_changed", _, _, let phase?): self = .phaseChanged(RefreshPhase(phase))
    default: return nil
    }
  }

  /// What whoever watches is told; nil for what is no event of the app itself.
  init?(_ event: Wire.WatchEvent) {
    switch event.kind {
    case .started:
      guard let id = event.id, let trigger = event.trigger else { return nil }
      self = .started(id: id, RefreshTrigger(trigger))
    case .ended:
      guard let refresh = event.refresh else { return nil }
      let said = refresh.tasks.map(\.message).filter { !$0.isEmpty }.joined(separator: "; ")
      self = .ended(id: refresh.id, RefreshOutcome(refresh.outcome), message: said.isEmpty ? refresh.cause?.text : said)
    case .phaseChanged:
      guard let phase = event.phase else { return nil }
      self = .phaseChanged(RefreshPhase(phase))
    default: return nil
    }
  }
}
