import CLinux
import Glibc

/// The file in the folder of a target that has the bytes so far, and is locked while it is open.
///
/// It is renamed to the target once it is complete.
final class PartFile {
  /// The two kinds of parts, each with the suffix that it adds to the name of the target.
  enum Kind: String {
    /// Of a transfer, whose next try continues it.
    case resumable = ".part"
    /// Of a fetch, which always begins anew. Only refreshd uses this suffix, so that a part of a fetch that was killed is
    /// known on every file system.
    case disposable = ".refreshd-part"
  }

  let folder: Folder
  /// The name of the target.
  let name: String
  private let kind: Kind
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
  init(_ kind: Kind = .resumable, in folder: Folder, for name: String, marked mark: Int64? = nil) throws(TaskFailure) {
    (self.kind, self.folder, self.name) = (kind, folder, name)
    let replaced = try ReplacedFile(name, in: folder.descriptor, path: "\(folder.path)/\(name)")
    let opened = try Self.open(kind, in: folder, for: name, marked: mark)
    (descriptor, self.mark, length) = (opened.descriptor, opened.mark.number, opened.length)
    isMarked = opened.mark.isStored
    // The owner must be able to write the part later, even if the target is read-only.
    try replaced?.lendAccess(to: descriptor, and: 0o600, path: ownPath)
  }

  deinit { close(descriptor) }

  /// The path of the target.
  var path: String { "\(folder.path)/\(name)" }
  /// The path of the part itself.
  var ownPath: String { path + kind.rawValue }

  /// Appends all bytes; `needed` is the number of bytes still to come, if known.
  func append(_ bytes: UnsafeRawBufferPointer, needed: Int64?) throws(TaskFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw TaskFailure(errno: errno, "write", ownPath, needed: needed ?? Self.leastRoom)
      }
      length += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Drops all bytes after the first `count`.
  func truncate(to count: Int64) throws(TaskFailure) {
    guard count < length else { return }
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw TaskFailure(errno: errno, "empty", ownPath) }
    length = count
  }

  /// Renames the part to its target, which is durable only after a sync of the folder.
  func replaceTarget() throws(TaskFailure) {
    try Self.replaceTarget(kind, descriptor, in: folder.descriptor, as: name, path: path)
  }

  /// Removes the part and its bytes.
  func remove() {
    guard Self.isNamed(descriptor, name + kind.rawValue, in: folder.descriptor) else { return }
    unlinkat(folder.descriptor, name + kind.rawValue, 0)
  }

  /// As ``replaceTarget()``, for a caller that has only the descriptor.
  ///
  /// Throws `retry` if the path leads to another folder by now, where the next try puts the file.
  static func replaceTarget(
    _ kind: Kind, _ descriptor: Int32, in folder: Int32, as name: String, path: String
  ) throws(TaskFailure) {
    let own = path + kind.rawValue
    guard isNamed(descriptor, name + kind.rawValue, in: folder) else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): \(own) was removed meanwhile")
    }
    guard Folder.leads(try Folder.split(path).folder, to: folder) == true else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): its folder was moved or mounted over meanwhile")
    }
    try ReplacedFile(name, in: folder, path: path)?.lendAccess(to: descriptor, path: own)
    guard renameat(folder, name + kind.rawValue, folder, name) == 0 else {
      throw TaskFailure(errno: errno, "replace", path)
    }
  }

  /// Removes the part of a transfer that is not running: the part with this mark, or any of the target if the mark is nil.
  ///
  /// Throws when the part may not be removed, or when another process writes it.
  static func discard(in folder: Folder, for name: String, marked mark: Int64?) throws(TaskFailure) {
    let part = name + Kind.resumable.rawValue
    guard case .file(let descriptor, let length) = try find(part, .resumable, in: folder) else { return }
    defer { close(descriptor) }
    // An empty part may be newer than the mark that the daemon knows.
    guard let found = PartMark(of: descriptor), length == 0 || mark ?? found.number == found.number else { return }
    guard length == 0 || mark != nil || found.isOfPart(for: name) else { return }
    try unlink(part, in: folder)
  }

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
    _ kind: Kind, in folder: Folder, for name: String, marked mark: Int64?
  ) throws(TaskFailure) -> (descriptor: Int32, mark: PartMark, length: Int64) {
    let part = name + kind.rawValue
    // Try again after this worker or another one has removed the file.
    for _ in 0..<4 {
      switch try find(part, kind, in: folder) {
      case .file(let descriptor, let length):
        let found = PartMark(of: descriptor)
        if let found, found.number == mark { return (descriptor, found, length) }
        defer { close(descriptor) }
        let isOurs = kind == .disposable || length == 0 || found.map { isTransfers($0, name, marked: mark) } == true
        guard isOurs else { throw foreign(part, in: folder) }
        try unlink(part, in: folder)
      case .link: try unlink(part, in: folder)
      case .nothing: if let made = try make(part, in: folder, for: name) { return (made.descriptor, made.mark, 0) }
      }
    }
    throw TaskFailure(.retry(after: .seconds(1)), "cannot write \(folder.path)/\(part): another process replaces it")
  }

  /// Whether a part with another mark than the given one is of a transfer, so that it may be replaced.
  ///
  /// Where no file keeps a mark, a given one proves at least that this transfer had a part here.
  private static func isTransfers(_ found: PartMark, _ name: String, marked mark: Int64?) -> Bool {
    found.isStored ? found.isOfPart(for: name) : mark != nil
  }

  private static func find(_ part: String, _ kind: Kind, in folder: Folder) throws(TaskFailure) -> Found {
    let descriptor = folder.openFile(part, O_RDWR)
    if descriptor < 0 {
      switch errno {
      case ENOENT: return .nothing
      case ELOOP, ENXIO: return .link
      // Of a former owner of the app; the folder's permissions say whether it may go.
      case EACCES where kind == .disposable: return .link
      default: throw TaskFailure(errno: errno, "write", "\(folder.path)/\(part)")
      }
    }
    var isKept = false
    defer { if !isKept { close(descriptor) } }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else {
      return .link
    }
    // On FAT and NFS the mount decides who owns a file.
    guard kind == .disposable || status.st_uid == geteuid() else { throw foreign(part, in: folder) }
    try lock(descriptor, part, in: folder)
    guard isNamed(descriptor, part, in: folder.descriptor), fstat(descriptor, &status) == 0 else {
      return .nothing
    }
    isKept = true
    return .file(descriptor: descriptor, length: Int64(status.st_size))
  }

  /// Makes an empty part; nil if another process made one first.
  private static func make(
    _ part: String, in folder: Folder, for name: String
  ) throws(TaskFailure) -> (descriptor: Int32, mark: PartMark)? {
    let descriptor = linux_open_at(folder.descriptor, part, O_RDWR | O_CREAT | O_EXCL, 0o666)
    guard descriptor >= 0 else {
      if errno == EEXIST { return nil }
      throw TaskFailure(errno: errno, "write", "\(folder.path)/\(part)")
    }
    do throws(TaskFailure) {
      try lock(descriptor, part, in: folder)
      return (descriptor, try PartMark(on: descriptor, for: name))
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func lock(_ descriptor: Int32, _ part: String, in folder: Folder) throws(TaskFailure) {
    guard linux_lock_now(descriptor) == 0 || errno != EWOULDBLOCK else {
      throw TaskFailure(.retry(after: .seconds(1)), "cannot write \(folder.path)/\(part): another process writes it")
    }
  }

  private static func unlink(_ part: String, in folder: Folder) throws(TaskFailure) {
    guard unlinkat(folder.descriptor, part, 0) == 0 || errno == ENOENT else {
      throw TaskFailure(errno: errno, "replace", "\(folder.path)/\(part)")
    }
  }

  /// Whether the name refers to this open file.
  private static func isNamed(_ descriptor: Int32, _ name: String, in folder: Int32) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private static func foreign(_ part: String, in folder: Folder) -> TaskFailure {
    TaskFailure(
      .failed, "cannot write \(folder.path)/\(part): a file that refreshd has not made is there; move it away")
  }
}
