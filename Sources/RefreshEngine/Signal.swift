/// A lifecycle message about an app (DESIGN section 2).
///
/// Signals may come twice, late or out of order: the state is the same and no refresh is added.
public enum Signal: String, Hashable, Sendable, CaseIterable {
  /// The app has a process now. It is in the background until it says `foreground`.
  case launched
  /// The user looks at the app.
  case foreground
  /// The user no longer looks at the app.
  case background
  /// The user has ended the app: it is in the background, and no push wakes it before its next start (FEATURES E6).
  case terminated
  /// The app's account may be refreshed (again).
  case login
  /// The app is not refreshed until `login`.
  case logout
}

/// Where an app is by its signals and leases.
public enum Phase: String, Hashable, Sendable, CaseIterable {
  /// The user looks at it: the foreground interval holds.
  case foreground
  /// Nobody looks at it: the background interval holds.
  case background
  /// Logged out: nothing is refreshed until `login`.
  case loggedOut = "logged-out"
}

/// Why a refresh starts (DESIGN section 2).
public enum Trigger: String, Hashable, Sendable, CaseIterable {
  /// The interval of the phase has passed since the last start.
  case interval
  /// The app entered the foreground with data that was too old.
  case foreground
  /// A push asked for it.
  case push
  /// The last transfer of a session has ended.
  case transfer
  /// An earlier refresh failed in a way that is worth a retry.
  case retry
  /// It was missed while the machine or the daemon was off.
  case catchUp = "catch-up"
  /// A person asked for it.
  case manual
}
