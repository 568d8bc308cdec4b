@preconcurrency import Glibc

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
  /// All groups of the user, their own included, as by initgroups(3); nil if the user database did not answer.
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

/// The users and groups of this machine, each looked up once per load.
///
/// A lookup may ask a directory server (nsswitch.conf(5)), which may never answer.
final class UserDatabase {
  /// The answer to a question about a user or a group.
  enum Answer<Found> {
    case found(Found)
    case missing
    /// The user database has not answered.
    case silent
  }

  /// Whether apps may run as other users, so that their groups are needed.
  private let readsGroups: Bool
  private var users: [String: Answer<Owner>] = [:]
  private var groups: [String: Answer<UInt32>] = [:]

  init(readsGroups: Bool) { self.readsGroups = readsGroups }

  /// The user with a login name or number.
  func user(_ text: String) -> Answer<Owner> {
    if let known = users[text] { return known }
    let answer = Self.ask("user \(text)") {
      Self.entry(passwd()) { record, buffer, size, found in
        guard let uid = UInt32(text) else { return getpwnam_r(text, record, buffer, size, found) }
        return getpwuid_r(uid, record, buffer, size, found)
      } made: { record in
        Owner(
          uid: record.pw_uid, gid: record.pw_gid, name: String(cString: record.pw_name),
          home: String(cString: record.pw_dir))
      }
    }
    let whole: Answer<Owner> =
      if case .found(let owner) = answer, readsGroups { .found(withGroups(owner)) } else { answer }
    users[text] = whole
    return whole
  }

  private func withGroups(_ owner: Owner) -> Owner {
    let (name, gid) = (owner.name, owner.gid)
    let groups = Patience.ask(about: "the groups of \(name)") { Self.groups(of: name, gid) }
    return Owner(uid: owner.uid, gid: gid, name: name, home: owner.home, groups: groups)
  }

  /// The user with a number; if the user has no entry, the number is the name.
  ///
  /// A container may run as a user that is missing from its `passwd(5)`.
  func user(numbered uid: UInt32) -> Owner {
    let answer = user("\(uid)")
    if case .found(let known) = answer { return known }
    let gid = uid == geteuid() ? getegid() : uid
    let owner = Owner(uid: uid, gid: gid, name: "\(uid)", home: "/", groups: [gid])
    if case .missing = answer { users["\(uid)"] = .found(owner) }
    return owner
  }

  /// The number of the group with a name or number.
  func group(_ text: String) -> Answer<UInt32> {
    if let known = groups[text] { return known }
    let answer = Self.ask("group \(text)") {
      Self.entry(Glibc.group()) { record, buffer, size, found in
        guard let gid = UInt32(text) else { return getgrnam_r(text, record, buffer, size, found) }
        return getgrgid_r(gid, record, buffer, size, found)
      } made: { record in
        record.gr_gid
      }
    }
    groups[text] = answer
    return answer
  }

  private static func ask<Found: Sendable>(
    _ subject: String, _ question: @escaping @Sendable () -> Found?
  ) -> Answer<Found> {
    switch Patience.ask(about: subject, question) {
    case .some(.some(let found)): .found(found)
    case .some(.none): .missing
    case .none: .silent
    }
  }

  /// All groups of a user, their own included, as initgroups(3) sets them.
  private static func groups(of name: String, _ gid: gid_t) -> [gid_t] {
    var groups = [gid_t](repeating: 0, count: 32)
    var count = Int32(groups.count)
    while getgrouplist(name, gid, &groups, &count) < 0 {
      // The count is now the needed size. If a group was added just now, the loop runs once more.
      groups = [gid_t](repeating: 0, count: max(Int(count), groups.count * 2))
      count = Int32(groups.count)
    }
    return Array(groups.prefix(Int(count)))
  }

  /// Calls a `get…_r` function with a buffer that grows until the entry fits (`getpwnam(3)`).
  private static func entry<Record, Made>(
    _ empty: Record,
    by lookUp: (
      UnsafeMutablePointer<Record>, UnsafeMutablePointer<CChar>, Int,
      UnsafeMutablePointer<UnsafeMutablePointer<Record>?>
    ) -> Int32,
    made: (Record) -> Made
  ) -> Made? {
    var record = empty
    var size = 1024
    while size <= 1 << 20 {
      var result: Int32 = 0
      let entry: Made?? = withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
        guard let start = buffer.baseAddress else { return nil }
        var found: UnsafeMutablePointer<Record>?
        result = lookUp(&record, start, size, &found)
        return result == ERANGE ? nil : .some(found.map { made($0.pointee) })
      }
      if let entry { return entry }
      size *= 4
    }
    return nil
  }
}
