/// A user of this machine (`passwd(5)`) that apps belong to.
///
/// A class, so that a thousand apps of one user share one owner.
public final class Owner: Hashable, Sendable {
  /// The user's number.
  public let uid: UInt32
  /// The number of the user's own group.
  public let gid: UInt32
  /// The user's login name; the number as text for a user without an entry.
  public let name: String
  /// The user's home directory.
  public let home: String
  /// All groups of the user, including the own group, as by initgroups(3); nil if the user database did not answer.
  public let groups: [UInt32]?

  /// Makes an owner from its parts.
  public init(uid: UInt32, gid: UInt32, name: String, home: String, groups: [UInt32]? = []) {
    self.uid = uid
    self.gid = gid
    self.name = name
    self.home = home
    self.groups = groups
  }

  /// The absolute path for a path that may begin with `~/`.
  func path(of written: String) -> String {
    written.hasPrefix("~/") ? home + written.dropFirst(1) : written
  }

  /// Compares all fields of the two users.
  public static func == (left: Owner, right: Owner) -> Bool {
    left === right
      || (left.uid, left.gid, left.name, left.home) == (right.uid, right.gid, right.name, right.home)
        && left.groups == right.groups
  }

  /// Hashes the user's number.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}
