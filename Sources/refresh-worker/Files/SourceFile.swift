import CLinux
import Glibc

/// A file that is sent, as it was when it was opened.
final class SourceFile {
  let path: String
  let descriptor: Int32
  let length: Int64
  /// Tells it from what it may be later: number, length and times.
  let signature: String

  /// Opens it without following a symbolic link.
  ///
  /// Throws for what is no plain file, or may not be read.
  init(in folder: Folder, named name: String) throws(Trouble) {
    path = "\(folder.path)/\(name)"
    descriptor = linux_open_at(folder.descriptor, name, O_RDONLY, 0)
    let code = errno
    guard descriptor >= 0 else {
      guard code != ELOOP else {
        throw Trouble(.failed, "cannot send \(path): it is a symbolic link; give the real path")
      }
      throw Trouble(.failed, "cannot send \(path): \(String(cString: strerror(code)))")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw Trouble(.failed, "cannot send \(path): it is no plain file")
    }
    length = Int64(status.st_size)
    signature = Self.signature(status)
  }

  deinit { close(descriptor) }

  /// Whether it is still as it was when it was opened.
  var isUnchanged: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && Self.signature(status) == signature
  }

  /// Fills the room with what begins at `offset` and is there; nil if less is there than was.
  func fill(_ room: UnsafeMutableRawBufferPointer, from offset: Int64) -> Int? {
    let count = min(room.count, Int(clamping: length - offset))
    guard count > 0 else { return 0 }
    while true {
      let read = pread(descriptor, room.baseAddress, count, off_t(offset))
      if read < 0, errno == EINTR { continue }
      return read > 0 ? read : nil
    }
  }

  private static func signature(_ status: stat) -> String {
    "\(status.st_ino)-\(status.st_size)-\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
  }
}
