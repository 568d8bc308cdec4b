import Glibc

/// A file that is read for a transfer, with its state at the time it was opened.
final class SourceFile {
  let path: String
  let descriptor: Int32
  let length: Int64
  /// The inode number, length and modification time, by which a later change is detected.
  let signature: String

  /// Opens the file without following a symbolic link.
  ///
  /// Throws when it is not a regular file or may not be read.
  init(in folder: Folder, named name: String, to verb: String = "send") throws(TaskFailure) {
    path = "\(folder.path)/\(name)"
    descriptor = folder.openFile(name, O_RDONLY)
    let code = errno
    guard descriptor >= 0 else {
      guard code != ELOOP else {
        throw TaskFailure(.failed, "cannot \(verb) \(path): it is a symbolic link; give the real path")
      }
      throw TaskFailure(.failed, "cannot \(verb) \(path): \(String(cString: strerror(code)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw TaskFailure(.failed, "cannot \(verb) \(path): it is not a regular file")
    }
    length = Int64(status.st_size)
    signature = Self.signature(status)
  }

  deinit { close(descriptor) }

  /// Whether the file has not changed since it was opened.
  var isUnchanged: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && Self.signature(status) == signature
  }

  /// Reads bytes from `offset` into the buffer; nil if the file has become shorter.
  func fill(_ room: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int? {
    let count = min(room.count, Int(clamping: length - offset))
    guard count > 0 else { return 0 }
    while true {
      let read = pread(descriptor, room.baseAddress, count, off_t(offset))
      if read < 0, errno == EINTR { continue }
      return read > 0 ? read : nil
    }
  }

  /// Opens a file with secrets of the Flatpak for which this process works; nil for a plain app, whose owner may link.
  ///
  /// Throws when the file has another name too, by which somebody else could write it.
  static func secrets(at path: String) throws(TaskFailure) -> SourceFile? {
    guard !Confinement.flatpakFolders.isEmpty else { return nil }
    let (folder, name) = try Folder.split(path)
    let file = try SourceFile(in: Folder(path: folder), named: name, to: "read")
    var status = stat()
    guard fstat(file.descriptor, &status) == 0, status.st_nlink == 1 else {
      throw TaskFailure(.failed, "cannot use \(path): the file has another name too; remove that link")
    }
    return file
  }

  private static func signature(_ status: stat) -> String {
    "\(status.st_ino)-\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
  }
}
