import Glibc

/// The directory entries of a folder, which fsync(2) of a file does not make durable.
enum FolderNames {
  /// Makes the entries durable; returns an errno(3) on failure.
  ///
  /// Some file systems, such as those over a network, need no sync of a folder and answer EINVAL (fsync(2)).
  static func makeDurable(in folder: Int32) -> Int32? {
    guard fsync(folder) != 0, errno != EINVAL else { return nil }
    return errno
  }
}
