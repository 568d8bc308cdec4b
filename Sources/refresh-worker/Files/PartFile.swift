import CLinux
import Glibc

/// The file `NAME.part` in the folder of a target, which has the bytes so far and is locked while it is open.
///
/// The ``Disk`` renames it to the target once it is complete.
final class PartFile {
  let folder: Folder
  /// The name of the target.
  let name: String
  let descriptor: Int32
  /// Identifies this part among files of the same name (``PartMark``).
  let mark: Int64
  /// Whether the file keeps its mark, so that the part is known again without the daemon's help.
  let isMarked: Bool
  /// The number of bytes so far.
  private(set) var length: Int64

  /// Opens the part with this mark and its bytes, or makes an empty one.
  ///
  /// Removes another transfer's part, or a link or pipe, of that name. A part gets the mode of the file that it will
  /// replace. Throws `retry` while another process writes the part. Throws `failed` if the file belongs to another
  /// program or user, or if the target is no plain file.
  init(in folder: Folder, for name: String, marked mark: Int64? = nil) throws(TaskFailure) {
    self.folder = folder
    self.name = name
    let replaced = try ReplacedFile(name, in: folder.descriptor, path: "\(folder.path)/\(name)")
    let opened = try Self.open(in: folder, for: name, marked: mark)
    (descriptor, self.mark, length) = (opened.descriptor, opened.mark.number, opened.length)
    isMarked = opened.mark.isStored
    // The owner must be able to write the part later, even if the target is read-only.
    try replaced?.lendAccess(to: descriptor, and: 0o600, path: path + Self.suffix)
  }

  deinit { close(descriptor) }

  /// The path of the target.
  var path: String { "\(folder.path)/\(name)" }

  /// Appends all bytes; `needed` is the number of bytes still to come, if known.
  func append(_ bytes: UnsafeRawBufferPointer, needed: Int64?) throws(TaskFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw TaskFailure(errno: errno, "write", path + Self.suffix, needed: needed ?? Self.leastRoom)
      }
      length += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Drops all bytes after the first `count`.
  func truncate(to count: Int64) throws(TaskFailure) {
    guard count < length else { return }
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw TaskFailure(errno: errno, "empty", path + Self.suffix) }
    length = count
  }

  /// Renames the part to its target, which is durable only after a sync of the folder.
  func replaceTarget() throws(TaskFailure) {
    try Self.replaceTarget(descriptor, in: folder.descriptor, as: name, path: path)
  }

  /// Removes the part and its bytes.
  func remove() {
    guard Self.isNamed(descriptor, name + Self.suffix, in: folder.descriptor) else { return }
    unlinkat(folder.descriptor, name + Self.suffix, 0)
  }

  /// As ``replaceTarget()``, for a caller that has only the descriptor.
  ///
  /// Throws `retry` if the path leads to another folder by now, where the next try puts the file.
  static func replaceTarget(_ descriptor: Int32, in folder: Int32, as name: String, path: String) throws(TaskFailure) {
    guard isNamed(descriptor, name + suffix, in: folder) else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): \(path)\(suffix) was removed meanwhile")
    }
    guard Folder.leads(try Folder.split(path).folder, to: folder) == true else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): its folder was moved or mounted over meanwhile")
    }
    try ReplacedFile(name, in: folder, path: path)?.lendAccess(to: descriptor, path: path + suffix)
    guard renameat(folder, name + suffix, folder, name) == 0 else { throw TaskFailure(errno: errno, "replace", path) }
  }

  /// Removes the part of a transfer that is not running: the part with this mark, or any of the target if the mark is nil.
  ///
  /// Throws when the part may not be removed, or when another process writes it.
  static func discard(in folder: Folder, for name: String, marked mark: Int64?) throws(TaskFailure) {
    guard case .file(let descriptor, let length) = try find(in: folder, for: name) else { return }
    defer { close(descriptor) }
    // An empty part may be newer than the mark that the daemon knows.
    guard let found = PartMark(of: descriptor), length == 0 || mark ?? found.number == found.number else { return }
    guard length == 0 || mark != nil || found.isOfPart(for: name) else { return }
    try unlink(name, in: folder)
  }

  static let suffix = ".part"
  /// The room to ask for if the remaining length is unknown.
  private static let leastRoom: Int64 = 16 << 20

  // MARK: Opening

  private enum Found {
    case nothing
    /// A link, a pipe, or a file with several names, which must not be written.
    case link
    /// A plain file of the caller, now locked.
    case file(descriptor: Int32, length: Int64)
  }

  private static func open(
    in folder: Folder, for name: String, marked mark: Int64?
  ) throws(TaskFailure) -> (descriptor: Int32, mark: PartMark, length: Int64) {
    // Try again after this worker or another one has removed the file.
    for _ in 0..<4 {
      switch try find(in: folder, for: name) {
      case .file(let descriptor, let length):
        let found = PartMark(of: descriptor)
        if let found, found.number == mark { return (descriptor, found, length) }
        defer { close(descriptor) }
        guard length == 0 || found.map({ isOurs($0, name, marked: mark) }) == true else {
          throw foreign(name, in: folder)
        }
        try unlink(name, in: folder)
      case .link: try unlink(name, in: folder)
      case .nothing: if let made = try make(in: folder, for: name) { return (made.descriptor, made.mark, 0) }
      }
    }
    throw TaskFailure(.retry(after: .seconds(1)), "cannot write \(path(name, in: folder)): another process replaces it")
  }

  /// Whether a part with another mark than the given one is refreshd's, so that it may be replaced.
  ///
  /// Where no file keeps a mark, a given one proves at least that this transfer had a part here.
  private static func isOurs(_ found: PartMark, _ name: String, marked mark: Int64?) -> Bool {
    found.isStored ? found.isOfPart(for: name) : mark != nil
  }

  private static func find(in folder: Folder, for name: String) throws(TaskFailure) -> Found {
    let descriptor = linux_open_at(folder.descriptor, name + suffix, O_RDWR, 0)
    if descriptor < 0 {
      switch errno {
      case ENOENT: return .nothing
      case ELOOP, ENXIO: return .link
      default: throw TaskFailure(errno: errno, "write", path(name, in: folder))
      }
    }
    var isKept = false
    defer { if !isKept { close(descriptor) } }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
      return .link
    }
    guard status.st_uid == geteuid() else { throw foreign(name, in: folder) }
    try lock(descriptor, name, in: folder)
    guard isNamed(descriptor, name + suffix, in: folder.descriptor), fstat(descriptor, &status) == 0 else {
      return .nothing
    }
    isKept = true
    return .file(descriptor: descriptor, length: Int64(status.st_size))
  }

  /// Makes an empty part; nil if another process made one first.
  private static func make(
    in folder: Folder, for name: String
  ) throws(TaskFailure) -> (descriptor: Int32, mark: PartMark)? {
    let descriptor = linux_open_at(folder.descriptor, name + suffix, O_RDWR | O_CREAT | O_EXCL, 0o666)
    guard descriptor >= 0 else {
      if errno == EEXIST { return nil }
      throw TaskFailure(errno: errno, "write", path(name, in: folder))
    }
    do throws(TaskFailure) {
      try lock(descriptor, name, in: folder)
      return (descriptor, try PartMark(on: descriptor, for: name))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func lock(_ descriptor: Int32, _ name: String, in folder: Folder) throws(TaskFailure) {
    guard linux_lock_now(descriptor) == 0 || errno != EWOULDBLOCK else {
      throw TaskFailure(.retry(after: .seconds(1)), "cannot write \(path(name, in: folder)): another process writes it")
    }
  }

  private static func unlink(_ name: String, in folder: Folder) throws(TaskFailure) {
    guard unlinkat(folder.descriptor, name + suffix, 0) == 0 || errno == ENOENT else {
      throw TaskFailure(errno: errno, "replace", path(name, in: folder))
    }
  }

  /// Whether the name refers to this open file.
  private static func isNamed(_ descriptor: Int32, _ name: String, in folder: Int32) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private static func foreign(_ name: String, in folder: Folder) -> TaskFailure {
    TaskFailure(
      .failed, "cannot write \(path(name, in: folder)): a file that refreshd has not made is there; move it away")
  }

  /// The path of the part, for messages.
  private static func path(_ name: String, in folder: Folder) -> String { "\(folder.path)/\(name)\(suffix)" }
}
