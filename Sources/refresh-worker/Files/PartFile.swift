import CLinux
import CZlib
import Glibc
import RefreshAPI

/// The file in the folder of a target that has the bytes so far, and is locked while it is open.
///
/// It is renamed to the target once it is complete.
final class PartFile {
  /// The two kinds of parts, each with the suffix that it adds to the name of the target.
  enum Kind: String {
    /// Of a transfer, whose next try continues it.
    case resumable = ".part"
    /// Of a fetch, which always starts from the beginning. Only refreshd uses this suffix, so that the part of a killed
    /// fetch is recognized on every file system.
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
  /// program or user, or if the target is not a regular file.
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
  /// Throws `retry` if the path now leads to another folder; the next try puts the file there.
  static func replaceTarget(
    _ kind: Kind, _ descriptor: Int32, in folder: Int32, as name: String, path: String
  ) throws(TaskFailure) {
    let own = path + kind.rawValue
    guard isNamed(descriptor, name + kind.rawValue, in: folder) else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): \(own) was removed")
    }
    guard Folder.leads(try Folder.split(path).folder, to: folder) == true else {
      throw TaskFailure(.retry(after: nil), "cannot replace \(path): its folder was moved or mounted over")
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
      // It belongs to a former owner of the app; the folder's permissions decide whether it may be removed.
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
    // On FAT and NFS the mount determines the owner of a file.
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
      .failed, "cannot write \(folder.path)/\(part): a file that is not refreshd's is there; move it away")
  }
}

/// A number that identifies a part file, also against a later file with the same name and inode number.
///
/// The mark is a number in an extended attribute (xattr(7)), which the file keeps when it is renamed to its target. Half of
/// it is random, and half is a checksum of the target's name, because a target named `disk.part` is not a part of `disk`.
/// On file systems without extended attributes, the mark is made from the inode number and the birth time, so that every file
/// has one.
struct PartMark: Hashable, Sendable {
  let number: Int64
  /// Whether it is in an extended attribute, so that only files of refreshd have one.
  let isStored: Bool

  /// Marks a new file; throws when the disk has no room for the mark.
  init(on descriptor: Int32, for name: String) throws(TaskFailure) {
    var number = Int64.random(in: .min ... .max) & ~0xffff_ffff | Int64(Self.half(of: name))
    guard fsetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number), 0) != 0 else {
      (self.number, isStored) = (number, true)
      return
    }
    if errno == ENOSPC || errno == EDQUOT { throw TaskFailure(errno: errno, "mark", "a new file") }
    (self.number, isStored) = (Self.ofInode(descriptor), false)
  }

  /// Reads the mark of a file; nil if the file has no mark although the file system supports marks.
  init?(of descriptor: Int32) {
    var number: Int64 = 0
    let count = fgetxattr(descriptor, Self.name, &number, MemoryLayout.size(ofValue: number))
    if count == MemoryLayout.size(ofValue: number) {
      (self.number, isStored) = (number, true)
    } else if count < 0, errno == ENOTSUP {
      (self.number, isStored) = (Self.ofInode(descriptor), false)
    } else {
      return nil
    }
  }

  /// Whether it is the mark of a part for this target, of whichever transfer.
  func isOfPart(for name: String) -> Bool {
    isStored && UInt32(truncatingIfNeeded: number) == Self.half(of: name)
  }

  /// Removes the mark of a complete file in its final place, so that a renamed copy is not mistaken for a part.
  static func remove(from descriptor: Int32) { fremovexattr(descriptor, name) }

  private static let name = "user.refreshd.part"

  /// The half of a mark that identifies the name of the target: its CRC-32.
  private static func half(of name: String) -> UInt32 {
    let bytes = Array(name.utf8)
    return UInt32(truncatingIfNeeded: crc32(0, bytes, UInt32(clamping: bytes.count)))
  }

  private static func ofInode(_ descriptor: Int32) -> Int64 {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return 0 }
    // Birth times use the lower bits, so the multiplication spreads the inode number over the upper ones.
    return Int64(bitPattern: UInt64(status.st_ino) &* 0x9e37_79b9_7f4a_7c15) ^ Int64(linux_birth(descriptor))
  }
}

/// The plain file that a part replaces, whose access the part gets.
struct ReplacedFile {
  private let permissions: mode_t
  private let group: gid_t

  /// Looks at a target; nil if there is no file yet, or only a link to one.
  ///
  /// Throws `failed` for a folder, a device, a pipe or a socket, which must not be replaced, and for a link to one.
  init?(_ name: String, in folder: Int32, path: String) throws(TaskFailure) {
    var status = stat()
    guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
    let isLink = status.st_mode & S_IFMT == S_IFLNK
    if isLink { guard fstatat(folder, name, &status, 0) == 0 else { return nil } }
    guard status.st_mode & S_IFMT == S_IFREG else {
      let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "not a plain file"
      throw TaskFailure(.failed, "cannot replace \(path): it is \(kind); give another path")
    }
    guard !isLink else { return nil }
    (permissions, group) = (status.st_mode & 0o777, status.st_gid)
  }

  /// Gives an open file the same group and permissions, plus the permissions in `more`.
  func lendAccess(to descriptor: Int32, and more: mode_t = 0, path: String) throws(TaskFailure) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw TaskFailure(errno: errno, "look at", path) }
    let hasGroup = status.st_gid == group || fchown(descriptor, .max, group) == 0
    guard fchmod(descriptor, (hasGroup ? permissions : Self.forAnotherGroup(permissions)) | more) == 0 else {
      throw TaskFailure(errno: errno, "set the mode of", path)
    }
  }

  /// The permissions if the owner may not give the file to its group: the other group gets only what everybody has.
  static func forAnotherGroup(_ permissions: mode_t) -> mode_t {
    permissions & ~0o070 | permissions & 0o070 & (permissions & 0o007) << 3
  }
}

/// A target that is already complete, because an earlier worker was killed between the rename and its report.
final class CompletedFile {
  let folder: Folder
  let name: String
  let descriptor: Int32
  let length: Int64

  /// Opens the target; nil unless it has the mark and the length of the part.
  ///
  /// The rename keeps the inode and its extended attributes, so the target still has the part's mark.
  init?(in folder: Folder, named name: String, of resume: Wire.Resume?) {
    guard let resume, let mark = resume.partMark, let total = resume.total else { return nil }
    let descriptor = folder.openFile(name, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      PartMark(of: descriptor)?.number == mark, Int64(status.st_size) == total
    else {
      close(descriptor)
      return nil
    }
    self.folder = folder
    self.name = name
    self.descriptor = descriptor
    length = total
  }

  deinit { close(descriptor) }
}
