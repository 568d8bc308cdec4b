@preconcurrency import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// Looks at a path and everything below it with the rights of the app's owner, within bounds of entries, depth and time.
///
/// It may block as long as a disk or a server does, so it runs on a thread of its own. It opens directories only, so that
/// it disturbs no FIFO or device.
struct TreeWalk {
  /// The bounds of a walk.
  struct WalkBounds {
    /// How many files are examined; of further files only names count, so that a change in place goes unnoticed.
    var files = 200_000
    /// How many entries a tree may have.
    var entries = 1_000_000
    /// How many levels of directories it may have; each takes a descriptor during the walk.
    var depth = 64
    /// When the walk must have ended, on the monotonic clock, in microseconds.
    var end = Int64.max
  }

  /// How many entries are read between two readings of the clock.
  private static let stride = 256

  private let view: OwnersView
  private let bounds: WalkBounds
  private var fingerprint = Fingerprint()

  /// Looks at an absolute path.
  static func look(at path: String, as owner: Owner, within bounds: WalkBounds = WalkBounds()) -> PathLook {
    var walk = TreeWalk(view: OwnersView(of: owner), bounds: bounds)
    do throws(NoLook) {
      if let place = try OwnersPath.open(path, walk.view) { try walk.add(place, path) }
      return .seen(walk.fingerprint)
    } catch {
      return .unknown(error.reason)
    }
  }

  /// Adds the target of a path and everything below it.
  private mutating func add(_ place: OpenEntry, _ path: String) throws(NoLook) {
    var hash = StableHash()
    for byte in path.utf8 { hash.combine(byte) }
    guard place.kind == S_IFDIR else {
      hash.combine(UInt8(0))
      if bounds.files > 0 { hash.combine(place.status) }
      return fingerprint.add(hash)
    }
    var prefix = hash
    if !path.hasSuffix("/") { prefix.combine(UInt8(ascii: "/")) }
    hash.combine(UInt8(1))
    fingerprint.add(hash)
    var levels: [WalkedDirectory] = []
    guard view.mayList(place.status) else { return }
    guard let first = WalkedDirectory(".", in: place.descriptor, prefix) else { throw NoLook(errno: errno) }
    levels.append(first)
    while let level = levels.last {
      errno = 0
      guard let entry = level.next() else {
        guard errno == 0 else { throw NoLook(errno: errno) }
        levels.removeLast()
        continue
      }
      guard fingerprint.entries < bounds.entries else { throw NoLook("it has more than \(bounds.entries) entries") }
      if fingerprint.entries % Self.stride == 1, EventLoop.monotonicMicroseconds() > bounds.end {
        throw NoLook("it has more entries than can be looked at in time")
      }
      if let below = add(entry, in: level, of: first) {
        guard levels.count < bounds.depth else { throw NoLook("it has more than \(bounds.depth) levels") }
        levels.append(below)
      }
    }
  }

  /// Adds an entry, and the directory to walk next if the owner may list it.
  private mutating func add(
    _ entry: WalkedDirectory.Child, in level: WalkedDirectory, of first: WalkedDirectory
  ) -> WalkedDirectory? {
    let maySearch = view.maySearch(level.status)
    var hash = level.prefix
    entry.combine(into: &hash)
    guard entry.isDirectory(maySearch: maySearch, in: level) else {
      hash.combine(UInt8(0))
      if maySearch, fingerprint.entries < bounds.files, let status = entry.status(in: level) { hash.combine(status) }
      fingerprint.add(hash)
      return nil
    }
    var prefix = hash
    prefix.combine(UInt8(ascii: "/"))
    hash.combine(UInt8(1))
    fingerprint.add(hash)
    guard maySearch, let status = entry.status(in: level), status.st_dev == first.status.st_dev, view.mayList(status)
    else { return nil }
    return WalkedDirectory(entry.name, in: level.descriptor, prefix)
  }
}

extension StableHash {
  /// Adds the state of a file that is not a directory.
  fileprivate mutating func combine(_ status: stat) {
    combine(status.st_mode)
    combine(status.st_ino)
    combine(status.st_size)
    combine(status.st_mtim.tv_sec)
    combine(status.st_mtim.tv_nsec)
  }
}

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

    /// Whether the entry is a directory; some file systems do not say so with the name.
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
