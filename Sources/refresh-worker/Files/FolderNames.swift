import Glibc

/// The names in a folder, which are not durable with the files that have them.
enum FolderNames {
  /// Makes them outlive a loss of power; an errno(3) where that went wrong.
  ///
  /// Some file systems, such as those over a network, have nothing to do for that and say EINVAL (fsync(2)).
  static func makeDurable(in folder: Int32) -> Int32? {
    guard fsync(folder) != 0, errno != EINVAL else { return nil }
    return errno
  }
}
