@preconcurrency import CLinux
import Glibc

/// What is at a path, as far as `new_data = "changed:PATH"` looks at it: equal prints mean that nothing changed.
///
/// Of a file: that it is the same one, its size and the time of its last change. Of a directory: the names of all
/// that is below it, and the files as above. The times of directories do not count, so that a lock file that came
/// and went is no change. A symbolic link at the path itself is followed; those below are compared by their target's
/// name. Other file systems that are mounted below are not looked at. What cannot be read counts as empty.
///
/// A print may be kept as text for the next daemon: its hash is the same in every process.
struct Fingerprint: Hashable, Sendable {
  /// How many files of a tree are looked at; of more, only names count, so that a change in place goes unnoticed.
  static let fileBound = 200_000

  /// The entries of the tree, 0 when there is nothing at the path.
  private(set) var entries = 0
  private var sum: UInt64 = 0

  /// Reads the form that ``text`` writes; nothing for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let entries = Int(parts[0]), let sum = UInt64(parts[1], radix: 16) else { return nil }
    (self.entries, self.sum) = (entries, sum)
  }

  /// The print in one line.
  var text: String { "\(entries) \(String(sum, radix: 16))" }

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
    var hash = StableHash()
    hash.combine(bytes: UnsafeRawBufferPointer(start: entry.fts_path, count: Int(entry.fts_pathlen)))
    let isDirectory = Int32(entry.fts_info) == FTS_D
    hash.combine(isDirectory ? UInt8(1) : 0)
    if !isDirectory, looksInside, let status = Self.status(of: entry) {
      hash.combine(status.st_mode)
      hash.combine(status.st_ino)
      hash.combine(status.st_size)
      hash.combine(status.st_mtim.tv_sec)
      hash.combine(status.st_mtim.tv_nsec)
    }
    sum &+= hash.value
  }

  /// Only the path itself is followed if it is a link.
  private static func status(of entry: FTSENT) -> stat? {
    var status = stat()
    let flags = entry.fts_level == 0 ? 0 : AT_SYMLINK_NOFOLLOW
    return fstatat(AT_FDCWD, entry.fts_accpath, &status, flags) == 0 ? status : nil
  }
}
