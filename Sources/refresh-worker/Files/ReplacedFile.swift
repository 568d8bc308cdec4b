import Glibc

/// The plain file that a part replaces, whose access the part gets.
struct ReplacedFile {
  private let permissions: mode_t
  private let group: gid_t

  /// Looks at a target; nil if there is no file yet, or only a link to one.
  ///
  /// Throws `failed` for a folder, a device, a pipe or a socket, which a file must not replace, and for a link to one.
  init?(_ name: String, in folder: Int32, path: String) throws(TaskFailure) {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink { guard fstatat(folder, name, &status, 0) == 0 else { return nil } }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "no plain file"
      throw TaskFailure(.failed, "cannot replace \(path): it is \(kind); give another path")
    }
    guard !isLink else { return nil }
    (permissions, group) = (status.st_mode & 0o777, status.st_gid)
  }

  /// Gives an open file the same group and permissions, and some permissions more.
  func lendAccess(to descriptor: Int32, and more: mode_t = 0, path: String) throws(TaskFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TaskFailure(errno: errno, "look at", path) }
    let hasGroup = status.st_gid == group || fchown(descriptor, .max, group) == 0
    guard fchmod(descriptor, (hasGroup ? permissions : Self.forAnotherGroup(permissions)) | more) == 0 else {
      throw TaskFailure(errno: errno, "set the mode of", path)
    }
  }

  /// The permissions where the owner may not give the file to its group: another group gets what everybody has.
  static func forAnotherGroup(_ permissions: mode_t) -> mode_t {
    permissions & ~0o070 | permissions & 0o070 & (permissions & 0o007) << 3
  }
}
