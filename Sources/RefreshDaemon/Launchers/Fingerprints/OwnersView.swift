import Glibc
import RefreshConfig

/// The rights of an app's owner on the files of the machine, by their modes.
///
/// The daemon may read every file, so it checks the owner's rights itself: otherwise `new_data` would tell the owner when
/// another user's file changed. The kernel cannot check, because the unit may not change its user. Access control lists do
/// not count.
final class OwnersView {
  private let owner: Owner
  /// Whether the kernel decides: the daemon runs as the owner, or the owner is root.
  private let mayAll: Bool

  init(of owner: Owner) {
    self.owner = owner
    mayAll = owner.uid == 0 || owner.uid == geteuid()
  }

  /// Whether the owner may list the names of a directory.
  func mayList(_ directory: stat) -> Bool { may(4, directory) }

  /// Whether the owner may look at the entries of a directory.
  func maySearch(_ directory: stat) -> Bool { may(1, directory) }

  private func may(_ bit: mode_t, _ status: stat) -> Bool {
    if mayAll { return true }
    if status.st_uid == owner.uid { return status.st_mode >> 6 & bit != 0 }
    let (group, others) = (status.st_mode >> 3 & bit != 0, status.st_mode & bit != 0)
    if group == others { return group }
    return (status.st_gid == owner.gid || owner.groups?.contains(status.st_gid) == true) ? group : others
  }
}
