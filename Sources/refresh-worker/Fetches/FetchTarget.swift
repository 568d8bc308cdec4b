import Glibc

/// The file that a fetch replaces by new content.
struct FetchTarget {
  /// The current content of the file.
  struct Content {
    /// The SHA-256, 64 hexadecimal digits.
    let digest: String
  }

  private let folder: Folder
  private let name: String
  /// The current content; nil if there is no file, or the owner may not read it.
  let content: Content?

  /// Reads the current content.
  ///
  /// Throws when the path to the folder has a symbolic link, or when the target is no plain file.
  init(path: String) throws(TaskFailure) {
    let parts = try Folder.split(path)
    folder = try Folder(path: parts.folder)
    name = parts.name
    content = try Self.content(of: name, in: folder, path: path)
  }

  /// Makes an empty part file.
  func makePart() throws(TaskFailure) -> PartFile { try PartFile(.disposable, in: folder, for: name) }

  /// Replaces the file by the part and makes both the bytes and the name durable.
  func replace(by part: PartFile) throws(TaskFailure) {
    guard fsync(part.descriptor) == 0 else { throw TaskFailure(errno: errno, "write", part.ownPath) }
    try part.replaceTarget()
    if let code = FolderNames.makeDurable(in: folder.descriptor) {
      throw TaskFailure(errno: code, "write", folder.path)
    }
    PartMark.remove(from: part.descriptor)
  }

  private static func content(of name: String, in folder: Folder, path: String) throws(TaskFailure) -> Content? {
    var status = stat()
    guard fstatat(folder.descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return nil }
      throw TaskFailure(errno: errno, "look at", path)
    }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFLNK: throw TaskFailure(.failed, "cannot replace \(path): it is a symbolic link; give the real path")
    default: throw TaskFailure(.failed, "cannot replace \(path): it is no plain file; give another path")
    }
    let descriptor = folder.openFile(name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Content(digest: try SHA256.digest(of: descriptor, length: Int64(status.st_size), path: path))
  }
}
