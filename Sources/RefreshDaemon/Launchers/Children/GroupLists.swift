import Glibc
import RefreshConfig

/// A cache of the supplementary groups of users.
///
/// A lookup reads files or asks a service (nsswitch.conf(5)), which costs too much for every refresh. A reload calls
/// ``forget()``.
final class GroupLists {
  private var lists: [uid_t: [gid_t]] = [:]

  /// All groups of a user, including the primary one, as initgroups(3) sets them.
  func groups(of owner: Owner) -> [gid_t] {
    if let known = lists[owner.uid] { return known }
    var groups = [gid_t](repeating: 0, count: 32)
    var count = Int32(groups.count)
    while getgrouplist(owner.name, owner.gid, &groups, &count) < 0 {
      // The count is now the needed size. If a group was added just now, the loop runs once more.
      groups = [gid_t](repeating: 0, count: max(Int(count), groups.count * 2))
      count = Int32(groups.count)
    }
    let list = Array(groups.prefix(Int(count)))
    lists[owner.uid] = list
    return list
  }

  /// Clears the cache.
  func forget() {
    lists = [:]
  }
}
