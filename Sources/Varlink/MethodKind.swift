/// The demand that a call of a method makes on the server, which decides how many of them one user may have under way.
public enum MethodKind: Sendable {
  /// It changes something, so it runs even if nobody hears the answer.
  case change
  /// It only asks: nothing is done for a caller that is gone or wants no answer (`oneway`).
  case query
  /// It takes long: each user has one under way, and the user's others wait for it.
  case work
  /// It asks to be told until the connection ends; each user may have ``Bounds/watchesPerUser``.
  ///
  /// Up to its first answer it is work.
  case watch

  /// Whether the handler has nothing to do if nobody hears the answer.
  var isPointlessWithoutReader: Bool { self != .change }
  var isWork: Bool { self == .work || self == .watch }
}
