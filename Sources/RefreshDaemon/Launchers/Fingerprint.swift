@preconcurrency import CLinux
import Glibc

/// What is at a path, as far as `new_data = "changed:PATH"` looks at it: equal prints mean that nothing changed.
///
/// Of a file: that it is the same one, its size and the time of its last change. Of a directory: the names of all
/// that is below it, and the files as above. The times of directories do not count, so that a lock file that came
/// and went is no change. A symbolic link at the path itself is followed; those below are compared by their target's
/// name. Other file systems that are mounted below are not looked at. What cannot be read counts as empty.
///
/// Prints are compared within one process only: their hash is seeded per process.
struct Fingerprint: Hashable, Sendable {
  /// How many files of a tree are looked at; of more, only names count, so that a change in place goes unnoticed.
  static let fileBound = 200_000

  /// The entries of the tree, 0 when there is nothing at the path.
  private(set) var entries = 0
  private var sum = 0

  /// Looks at a path; reads the disk, so not on the event loop's thread.
  init(of path: String, fileBound: Int = Self.fileBound) {
    guard let start = strdup(path) else { return }
    defer { free(start) }
    var paths: [UnsafeMutablePointer<CChar>?] = [start, nil]
    let options = FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV | FTS_NOSTAT
    guard let walk = fts_open(&paths, options, nil) else { return }
    defer { fts_close(walk) }
    while let entry = fts_read(walk) {
      let kind = Int32(entry.pointee.fts_info)
      // The second time at a directory, after what is below it; and a path that leads nowhere.
      if kind == FTS_DP || kind == FTS_NS && entry.pointee.fts_level == 0 { continue }
      add(entry.pointee, looksInside: entries < fileBound)
    }
  }

  /// Adds an entry; the order in which a directory is read does not count.
  private mutating func add(_ entry: FTSENT, looksInside: Bool) {
    entries += 1
    var hasher = Hasher()
    hasher.combine(bytes: UnsafeRawBufferPointer(start: entry.fts_path, count: Int(entry.fts_pathlen)))
    let isDirectory = Int32(entry.fts_info) == FTS_D
    hasher.combine(isDirectory)
    if !isDirectory, looksInside, let status = Self.status(of: entry) {
      hasher.combine(status.st_mode)
      hasher.combine(status.st_ino)
      hasher.combine(status.st_size)
      hasher.combine(status.st_mtim.tv_sec)
      hasher.combine(status.st_mtim.tv_nsec)
    }
    sum &+= hasher.finalize()
  }

  /// Only the path itself is followed if it is a link.
  private static func status(of entry: FTSENT) -> stat? {
    var status = stat()
    let flags = entry.fts_level == 0 ? 0 : AT_SYMLINK_NOFOLLOW
    return fstatat(AT_FDCWD, entry.fts_accpath, &status, flags) == 0 ? status : nil
  }
}
