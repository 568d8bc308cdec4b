import CLinux
import Glibc

/// The file `NAME.part` beside a target, which holds what has come of it and is locked as long as it is open.
///
/// The ``Disk`` gives it the name of the target once it is whole.
final class PartFile {
  let folder: Folder
  /// The name of the target.
  let name: String
  let descriptor: Int32
  /// Tells it from another file of the same name.
  let mark: Int64
  /// How many bytes it has.
  private(set) var length: Int64

  /// Opens the one that has this mark, with what is in it; else makes an empty one.
  ///
  /// What else is there under its name is removed: the part of another transfer, or what is no plain file. It is for no
  /// other eyes than the file that it will replace. Throws `retry` when another process writes it, and `failed` for a
  /// file that is none of ours, and where the target is a folder.
  init(in folder: Folder, for name: String, marked mark: Int64? = nil) throws(Trouble) {
    self.folder = folder
    self.name = name
    let mode = try Self.modeOfTarget(name, in: folder)
    let opened = try Self.open(in: folder, for: name, marked: mark)
    (descriptor, self.mark, length) = (opened.descriptor, opened.mark, opened.length)
    // The owner must be able to go on with it, also if the file is for reading only.
    guard let mode, fchmod(descriptor, mode | 0o600) != 0 else { return }
    throw Trouble(errno: errno, "set the mode of", path + Self.suffix)
  }

  deinit { close(descriptor) }

  /// The path of the target.
  var path: String { "\(folder.path)/\(name)" }

  /// Appends all of the bytes; `needed` is how many more there will be, if that is known.
  func append(_ bytes: UnsafeRawBufferPointer, needed: Int64?) throws(Trouble) {
    var rest = bytes
    while !rest.isEmpty {
      let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(length))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        throw Trouble(errno: errno, "write", path + Self.suffix, needed: needed ?? Self.leastRoom)
      }
      length += Int64(count)
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Keeps the first bytes and drops the rest.
  func truncate(to count: Int64) throws(Trouble) {
    guard count < length else { return }
    guard ftruncate(descriptor, off_t(count)) == 0 else { throw Trouble(errno: errno, "empty", path + Self.suffix) }
    length = count
  }

  /// Gives it the name of the target, in the place of what is there; durable only once the folder is.
  func takePlace() throws(Trouble) {
    try Self.takePlace(descriptor, in: folder.descriptor, as: name, path: path)
  }

  /// Removes it, and with it all that has come.
  func remove() {
    guard Self.isNamed(descriptor, name + Self.suffix, in: folder.descriptor) else { return }
    unlinkat(folder.descriptor, name + Self.suffix, 0)
  }

  /// As ``takePlace()``, for who has no more than the descriptor.
  static func takePlace(_ descriptor: Int32, in folder: Int32, as name: String, path: String) throws(Trouble) {
    guard isNamed(descriptor, name + suffix, in: folder) else {
      throw Trouble(.retry(after: nil), "cannot replace \(path): \(path)\(suffix) was removed meanwhile")
    }
    if let mode = permissions(mode(of: name, in: folder)), fchmod(descriptor, mode) != 0 {
      throw Trouble(errno: errno, "set the mode of", path + suffix)
    }
    guard renameat(folder, name + suffix, folder, name) == 0 else { throw Trouble(errno: errno, "replace", path) }
  }

  /// Removes the part of a transfer that nobody has open: the one of this mark, or any of ours if it is nil.
  ///
  /// Throws when it may not be removed, or another process writes it.
  static func discard(in folder: Folder, for name: String, marked mark: Int64?) throws(Trouble) {
    guard case .file(let descriptor, let length) = try find(in: folder, for: name) else { return }
    defer { close(descriptor) }
    // An empty one may have been made after what was told of its transfer.
    guard let found = PartMark(of: descriptor), mark == nil || mark == found.number || length == 0 else { return }
    try unlink(name, in: folder)
  }

  static let suffix = ".part"
  /// What is asked for where it is not known how much is to come.
  private static let leastRoom: Int64 = 16 << 20

  // MARK: Opening

  /// The permissions of the plain file that will be replaced; nil if there is none.
  private static func modeOfTarget(_ name: String, in folder: Folder) throws(Trouble) -> mode_t? {
    let mode = mode(of: name, in: folder.descriptor)
    guard mode.map({ $0 & S_IFMT != S_IFDIR }) ?? true else {
      throw Trouble(.failed, "cannot replace \(folder.path)/\(name): it is a folder; give another path")
    }
    return permissions(mode)
  }

  private static func mode(of name: String, in folder: Int32) -> mode_t? {
    var status = stat()
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_mode : nil
  }

  private static func permissions(_ mode: mode_t?) -> mode_t? {
    mode.flatMap { $0 & S_IFMT == S_IFREG ? $0 & 0o777 : nil }
  }

  private enum Found {
    case nothing
    /// A link, a pipe, a file with another name: nothing is ever written through it.
    case link
    /// A plain file of the caller, locked.
    case file(descriptor: Int32, length: Int64)
  }

  private static func open(
    in folder: Folder, for name: String, marked mark: Int64?
  ) throws(Trouble) -> (descriptor: Int32, mark: Int64, length: Int64) {
    // Again when what was there is removed, by us or by another who has just finished with it.
    for _ in 0..<4 {
      switch try find(in: folder, for: name) {
      case .file(let descriptor, let length):
        let found = PartMark(of: descriptor)
        if let found, found.number == mark { return (descriptor, found.number, length) }
        defer { close(descriptor) }
        // Who was given a mark had a part there, and knows that it may be replaced.
        guard found != nil || mark != nil || length == 0 else { throw foreign(name, in: folder) }
        try unlink(name, in: folder)
      case .link: try unlink(name, in: folder)
      case .nothing: if let made = try make(in: folder, for: name) { return (made.descriptor, made.mark, 0) }
      }
    }
    throw Trouble(.retry(after: .seconds(1)), "cannot write \(path(name, in: folder)): another process replaces it")
  }

  private static func find(in folder: Folder, for name: String) throws(Trouble) -> Found {
    let descriptor = linux_open_at(folder.descriptor, name + suffix, O_RDWR, 0)
    if descriptor < 0 {
      switch errno {
      case ENOENT: return .nothing
      case ELOOP, ENXIO: return .link
      default: throw Trouble(errno: errno, "write", path(name, in: folder))
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

  /// Makes an empty one; nil if another process is faster.
  private static func make(
    in folder: Folder, for name: String
  ) throws(Trouble) -> (descriptor: Int32, mark: Int64)? {
    let descriptor = linux_open_at(folder.descriptor, name + suffix, O_RDWR | O_CREAT | O_EXCL, 0o666)
    guard descriptor >= 0 else {
      if errno == EEXIST { return nil }
      throw Trouble(errno: errno, "write", path(name, in: folder))
    }
    do throws(Trouble) {
      try lock(descriptor, name, in: folder)
      return (descriptor, try PartMark(on: descriptor).number)
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static func lock(_ descriptor: Int32, _ name: String, in folder: Folder) throws(Trouble) {
    guard linux_lock_now(descriptor) == 0 || errno != EWOULDBLOCK else {
      throw Trouble(.retry(after: .seconds(1)), "cannot write \(path(name, in: folder)): another process writes it")
    }
  }

  private static func unlink(_ name: String, in folder: Folder) throws(Trouble) {
    guard unlinkat(folder.descriptor, name + suffix, 0) == 0 || errno == ENOENT else {
      throw Trouble(errno: errno, "replace", path(name, in: folder))
    }
  }

  /// Whether this is what the name leads to.
  private static func isNamed(_ descriptor: Int32, _ name: String, in folder: Int32) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0
      && own.st_ino == named.st_ino && own.st_dev == named.st_dev
  }

  private static func foreign(_ name: String, in folder: Folder) -> Trouble {
    Trouble(
      .failed, "cannot write \(path(name, in: folder)): a file that refreshd has not made is there; move it away")
  }

  /// The path of the part, for messages.
  private static func path(_ name: String, in folder: Folder) -> String { "\(folder.path)/\(name)\(suffix)" }
}
