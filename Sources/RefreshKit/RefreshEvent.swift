import RefreshAPI

/// Why a refresh starts.
public typealias RefreshTrigger = Wire.Trigger

/// How a refresh ended.
public typealias RefreshOutcome = Wire.Outcome

/// Why the daemon ended a refresh.
public typealias RefreshStopReason = Wire.StopReason

/// Where an app is by its signals and leases.
public typealias RefreshPhase = Wire.Phase

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
  /// The daemon is gone or refuses; the client connects anew in so long, without being asked.
  ///
  /// What it was told stays so: the handler, and the leases. Told for each attempt that failed.
  case disconnected(RefreshError, retryingIn: Duration)
}
