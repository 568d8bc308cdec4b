@preconcurrency import CLinux
import Glibc
import RefreshEngine

/// An open file or directory, which is closed with its last reference.
final class OpenEntry {
  /// The flags to open an entry without reading it and without disturbing a FIFO or a device (O_PATH).
  static let place = 0o10000000 | O_CLOEXEC

  let descriptor: Int32
  let status: stat

  /// Opens a name in a directory; nil, with `errno`, if that fails.
  init?(_ name: String, in directory: Int32, _ flags: Int32) {
    var status = stat()
    let descriptor = openat(directory, name, flags)
    guard descriptor >= 0 else { return nil }
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      errno = code
      return nil
    }
    (self.descriptor, self.status) = (descriptor, status)
  }

  deinit { close(descriptor) }

  /// The type of the file, from the bits `S_IFMT`.
  var kind: mode_t { status.st_mode & S_IFMT }

  /// Where a symbolic link points; nil for anything else.
  var linkTarget: String? {
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
      count = max(0, buffer.baseAddress.map { readlinkat(descriptor, "", $0, buffer.count) } ?? 0)
    }
    return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
  }
}

/// A directory that is read name by name, so that a large directory takes no memory.
final class WalkedDirectory {
  /// An entry, valid until the next is read.
  struct Child {
    fileprivate let entry: UnsafeMutablePointer<dirent>

    private var bytes: UnsafePointer<CChar> {
      UnsafeRawPointer(entry).advanced(by: MemoryLayout<dirent>.offset(of: \.d_name) ?? 0)
        .assumingMemoryBound(to: CChar.self)
    }

    var name: String { String(cString: bytes) }

    fileprivate var isDots: Bool { strcmp(bytes, ".") == 0 || strcmp(bytes, "..") == 0 }

    /// Adds the name to a hash.
    func combine(into hash: inout StableHash) {
      hash.combine(bytes: UnsafeRawBufferPointer(start: bytes, count: strlen(bytes)))
    }

    /// The state of the entry; a link's own.
    func status(in directory: WalkedDirectory) -> stat? {
      var status = stat()
      return fstatat(directory.descriptor, bytes, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }

    /// Whether the entry is a directory; some file systems do not tell with the name.
    func isDirectory(maySearch: Bool, in directory: WalkedDirectory) -> Bool {
      let kind = Int(entry.pointee.d_type)
      guard kind == Int(DT_UNKNOWN), maySearch else { return kind == Int(DT_DIR) }
      return status(in: directory).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }
  }

  let status: stat
  /// The hash of the directory's path and a slash.
  let prefix: StableHash
  let descriptor: Int32
  private let stream: OpaquePointer

  /// Opens a name in a directory; nil, with `errno`, if that fails.
  init?(_ name: String, in directory: Int32, _ prefix: StableHash) {
    let descriptor = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, let stream = fdopendir(descriptor) else {
      let code = errno
      close(descriptor)
      errno = code
      return nil
    }
    (self.status, self.prefix, self.descriptor, self.stream) = (status, prefix, descriptor, stream)
  }

  deinit { closedir(stream) }

  /// The next entry; nil at the end, and with `errno` when it cannot be read.
  func next() -> Child? {
    while let entry = readdir(stream).map(Child.init) {
      if !entry.isDots { return entry }
    }
    return nil
  }
}
