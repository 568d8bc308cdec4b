@preconcurrency import Glibc

/// The users and groups of this machine, each looked up once per load.
final class Accounts {
  private var users: [String: Owner?] = [:]
  private var groups: [String: UInt32?] = [:]

  /// The user with a login name or number.
  func user(_ text: String) -> Owner? {
    if let known = users[text] { return known }
    let owner = Self.entry(passwd()) { record, buffer, size, found in
      guard let uid = UInt32(text) else { return getpwnam_r(text, record, buffer, size, found) }
      return getpwuid_r(uid, record, buffer, size, found)
    } made: { record in
      Owner(
        uid: record.pw_uid, gid: record.pw_gid, name: String(cString: record.pw_name),
        home: String(cString: record.pw_dir))
    }
    users[text] = .some(owner)
    return owner
  }

  /// The user with a number; a user without an entry gets the number as its name.
  ///
  /// A container may run as a user that is missing from its `passwd(5)`.
  func user(numbered uid: UInt32) -> Owner {
    if let known = user("\(uid)") { return known }
    let owner = Owner(uid: uid, gid: uid == geteuid() ? getegid() : uid, name: "\(uid)", home: "/")
    users["\(uid)"] = .some(owner)
    return owner
  }

  /// The number of the group with a name or number.
  func group(_ text: String) -> UInt32? {
    if let known = groups[text] { return known }
    let gid = Self.entry(Glibc.group()) { record, buffer, size, found in
      guard let gid = UInt32(text) else { return getgrnam_r(text, record, buffer, size, found) }
      return getgrgid_r(gid, record, buffer, size, found)
    } made: { record in
      record.gr_gid
    }
    groups[text] = .some(gid)
    return gid
  }

  /// Calls one of the `get…_r` functions with a buffer that grows until the entry fits (`getpwnam(3)`).
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
