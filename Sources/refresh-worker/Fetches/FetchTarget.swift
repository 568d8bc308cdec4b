import CLinux
import Glibc

/// The file that a fetch replaces when there is something new.
struct FetchTarget {
  /// What is there already.
  struct Content {
    /// Its SHA-256, 64 hexadecimal digits.
    let digest: String
  }

  private let folder: Folder
  private let name: String
  /// What is there; nil for nothing, or for what may not be read.
  let content: Content?

  /// Looks at what is there.
  ///
  /// Throws when the folder cannot be reached without a symbolic link, or when it is no file that is there.
  init(path: String) throws(Trouble) {
    let parts = try Folder.split(path)
    folder = try Folder(path: parts.folder)
    name = parts.name
    content = try Self.content(of: name, in: folder, path: path)
  }

  /// The file that takes what comes, empty.
  func makePart() throws(Trouble) -> PartFile { try PartFile(in: folder, for: name) }

  /// Puts the part in the place of what is there, so that it outlives a loss of power.
  func replace(by part: PartFile) throws(Trouble) {
    guard fsync(part.descriptor) == 0 else { throw Trouble(errno: errno, "write", part.path + PartFile.suffix) }
    try part.takePlace()
    if let code = FolderNames.makeDurable(in: folder.descriptor) { throw Trouble(errno: code, "write", folder.path) }
  }

  private static func content(of name: String, in folder: Folder, path: String) throws(Trouble) -> Content? {
    var status = stat()
    guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw Trouble(errno: errno, "look at", path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw Trouble(.failed, "cannot replace \(path): it is a symbolic link; give the real path")
    default: throw Trouble(.failed, "cannot replace \(path): it is no plain file; give another path")
    }
    let descriptor = linux_open_at(folder.descriptor, name, O_RDONLY | O_NONBLOCK, 0)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Content(digest: try SHA256.digest(of: descriptor, length: Int64(status.st_size), path: path))
  }
}
