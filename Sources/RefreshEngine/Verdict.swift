/// The engine's answer about one app at one instant; the only judgement there is (DESIGN section 3).
///
/// The scheduler starts exactly the apps that are `ready`, and `refreshctl` prints the same value.
public enum Verdict: Hashable, Sendable {
  /// It starts now, for this reason.
  case ready(Trigger)
  /// Nothing asks for a refresh before this instant, boot clock.
  case notDue(until: Instant)
  /// Something keeps it from being refreshed, however old its data is.
  case held([Hold])
  /// It is being refreshed.
  case refreshing(RefreshID)
}

/// Whatever keeps an app from being refreshed, by name.
public enum Hold: String, Hashable, Sendable, CaseIterable {
  /// No file of the configuration in force names the app.
  case notConfigured = "not-configured"
  /// The app is logged out; `login` lifts it.
  case loggedOut = "logged-out"
  /// The interval of the phase is `never`; another phase or interval, or a request, lifts it.
  case never
  /// The daemon is stopping; its next start lifts it.
  case stopping
}

/// From when until when a wake may be: what the daemon arms its one timer with.
public struct Window: Hashable, Sendable {
  /// The first instant at which there is something to do, boot clock; it may have passed.
  public var earliest: Instant
  /// The last instant for it, boot clock.
  ///
  /// The same as `earliest` while nothing may wait.
  public var latest: Instant

  /// Makes a window.
  public init(earliest: Instant, latest: Instant) {
    self.earliest = earliest
    self.latest = latest
  }
}
