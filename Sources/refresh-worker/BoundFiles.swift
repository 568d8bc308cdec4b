import CLinux
import Glibc
import RefreshAPI

/// The files of the owner to which a worker of a user's daemon binds itself, and what their paths led to at that time.
///
/// Landlock binds to files, not to paths. A program may replace a file with a password by a rename, and a folder may be
/// moved or mounted over; then another worker must do the work.
struct BoundFiles {
  /// The folder that the process may write to; nil if it only reads.
  let written: String?
  /// The files and folders that it may read.
  let read: [String]
  private let found: [FileIdentity?]

  /// Looks at the files, before the process is bound to them.
  init(_ bounds: Wire.WorkerBounds, home: String?) {
    written = bounds.writes
    read = bounds.reads.map { path in
      path.utf8.starts(with: "~/".utf8) ? "\(home ?? "")/\(path.dropFirst(2))" : path
    }
    found = Self.identities(of: written, read)
  }

  /// Whether the paths lead to the same files as before.
  var areInPlace: Bool { found == Self.identities(of: written, read) }

  private static func identities(of written: String?, _ read: [String]) -> [FileIdentity?] {
    ((written.map { [$0] } ?? []) + read).map(FileIdentity.init)
  }
}

/// The file that a path leads to.
private struct FileIdentity: Hashable {
  private let device: dev_t
  private let inode: ino_t

  /// Looks at a path; nil if it leads nowhere.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }
}
