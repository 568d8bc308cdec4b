import Glibc
import RefreshConfig

/// The supplementary groups of users, looked up once.
///
/// A look-up reads files or asks a service (`nsswitch.conf(5)`), which must not be done for each of thousands of
/// refreshes; ``forget()`` on reload.
final class GroupLists {
  private var lists: [uid_t: [gid_t]] = [:]

  /// All groups of a user, the primary one among them, as `initgroups(3)` sets them.
  func groups(of owner: Owner) -> [gid_t] {
    if let known = lists[owner.uid] { return known }
    var groups = [gid_t](repeating: 0, count: 32)
    var count = Int32(groups.count)
    while getgrouplist(owner.name, owner.gid, &groups, &count) < 0 {
      // The count is now what is needed; a group added this instant takes another turn.
      groups = [gid_t](repeating: 0, count: max(Int(count), groups.count * 2))
      count = Int32(groups.count)
    }
    let list = Array(groups.prefix(Int(count)))
    lists[owner.uid] = list
    return list
  }

  /// Looks up everything again when it is next asked for.
  func forget() {
    lists = [:]
  }
}
