/// The demand of a method's calls on the server, which limits how many a user may have under way.
public enum MethodKind: Sendable {
  /// The call changes something, so it runs even if nobody receives the answer.
  case change
  /// The call only asks: it does not run if the caller is gone or wants no answer (`oneway`).
  case query
  /// The call takes long: a user has one under way, and the user's other work waits.
  case work
  /// The call reports events until its connection ends; a user may have ``Bounds/watchesPerUser``.
  ///
  /// Until its first answer it counts as work.
  case watch

  /// Whether the handler has nothing to do if nobody receives the answer.
  var isPointlessWithoutReader: Bool { self != .change }
  var isWork: Bool { self == .work || self == .watch }
}
