/// A lifecycle message about an app.
///
/// Signals may come twice, late or out of order: a repeated signal changes nothing and adds no refresh.
public enum Signal: String, Hashable, Sendable, CaseIterable {
  /// The app has a process now. It is in the background until it says `foreground`.
  case launched
  /// The user looks at the app.
  case foreground
  /// The user no longer looks at the app.
  case background
  /// The user has ended the app: it is in the background, and no push wakes it before its next start.
  case terminated
  /// The app's account may be refreshed (again).
  case login
  /// The app is not refreshed until `login`.
  case logout

  /// Whether the signal tells where the user looks, so that desktops do not count.
  var tellsPhase: Bool { self == .foreground || self == .background || self == .terminated }
}
