@preconcurrency import CLinux
import Glibc

/// The state of a path for `new_data = "changed:PATH"`: equal fingerprints mean that nothing changed.
///
/// A file counts with its inode, its size and the time of its last change. A directory counts with the names below it
/// and its files. The times of directories do not count, so that a lock file that comes and goes is no change. A
/// symbolic link at the path itself is followed; a link below it counts with its own inode and times. Mounts below the
/// path are skipped, and unreadable entries count as empty.
///
/// The hash is the same in every process, so the next daemon can compare a fingerprint that is kept as text.
struct Fingerprint: Hashable, Sendable {
  /// The files of a tree that are examined; beyond this number only names count, so a change in place goes unnoticed.
  static let fileBound = 200_000

  /// The number of entries of the tree; 0 when the path does not exist.
  private(set) var entries = 0
  private var sum: UInt64 = 0

  /// Reads the form that ``text`` writes; nil for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let entries = Int(parts[0]), let sum = UInt64(parts[1], radix: 16) else { return nil }
    (self.entries, self.sum) = (entries, sum)
  }

  /// The fingerprint in one line.
  var text: String { "\(entries) \(String(sum, radix: 16))" }

  /// Reads the fingerprint of a path from the disk; do not call this on the event loop's thread.
  init(of path: String, fileBound: Int = Self.fileBound) {
    guard let start = strdup(path) else { return }
    defer { free(start) }
    var paths: [UnsafeMutablePointer<CChar>?] = [start, nil]
    let options = FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR | FTS_XDEV | FTS_NOSTAT
    guard let walk = fts_open(&paths, options, nil) else { return }
    defer { fts_close(walk) }
    while let entry = fts_read(walk) {
      let kind = Int32(entry.pointee.fts_info)
      // Skips the second visit of a directory, after its contents, and a path that does not exist.
      if kind == FTS_DP || kind == FTS_NS && entry.pointee.fts_level == 0 { continue }
      add(entry.pointee, looksInside: entries < fileBound)
    }
  }

  /// Adds an entry; the order of the entries does not matter.
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

  /// Follows a link only at the path itself.
  private static func status(of entry: FTSENT) -> stat? {
    var status = stat()
    let flags = entry.fts_level == 0 ? 0 : AT_SYMLINK_NOFOLLOW
    return fstatat(AT_FDCWD, entry.fts_accpath, &status, flags) == 0 ? status : nil
  }
}
