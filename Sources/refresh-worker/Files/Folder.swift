import CLinux
import Glibc

/// An open directory whose path had no symbolic link; later changes of the path do not affect it.
///
/// A process that works for a Flatpak opens only what is below the folders of that Flatpak (``Confinement``).
final class Folder {
  let path: String
  /// Open for reading, because fsync(2) needs that.
  let descriptor: Int32

  /// Opens the components from the root, one after the other.
  ///
  /// `path` is absolute and has no empty component, no `.` and no `..`. Throws when a component is a symbolic link, is
  /// missing, is not a directory, or may not be searched.
  init(path: String) throws(TaskFailure) {
    self.path = path
    let place = try Self.walk(path)
    descriptor = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let code = errno
    close(place)
    guard descriptor >= 0 else { throw TaskFailure(errno: code, "open the folder", path.isEmpty ? "/" : path) }
  }

  deinit { close(descriptor) }

  /// Walks to a folder with O_PATH descriptors, which Landlock allows everywhere.
  private static func walk(_ path: String) throws(TaskFailure) -> Int32 {
    var walked = try top(of: path)
    var current = linux_open_path(walked.isEmpty ? "/" : walked)
    guard current >= 0 else { throw TaskFailure(errno: errno, "open the folder", walked) }
    for component in components(path.utf8.dropFirst(walked.utf8.count)) where !component.isEmpty {
      walked += "/\(component)"
      let next = linux_open_folder(current, component)
      let code = errno
      let isLink = next < 0 && isLink(component, in: current)
      close(current)
      if isLink { throw TaskFailure(.failed, "cannot use \(path): \(walked) is a symbolic link; give the real path") }
      guard next >= 0 else { throw TaskFailure(errno: code, "open the folder", walked) }
      current = next
    }
    return current
  }

  /// Opens a file in it that is there, and follows no symbolic link; negative with `errno` if that fails.
  func openFile(_ name: String, _ flags: Int32) -> Int32 {
    let file = linux_open_at(descriptor, name, flags, 0)
    guard file < 0, errno == ELOOP else { return file }
    // The document portal opens a link of its own with the flags that it is given, and so fails for every document.
    let found = linux_open_at(descriptor, name, __O_PATH, 0)
    defer { if found >= 0 { close(found) } }
    var status = stat()
    guard fstat(found, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      errno = ELOOP
      return -1
    }
    return open("/proc/self/fd/\(found)", flags | O_CLOEXEC | O_NONBLOCK)
  }

  /// The folder of a Flatpak that a path is below; empty for a plain app.
  ///
  /// Links above it are the user's. The Flatpak cannot replace them, but may put a link in any place below at any time.
  private static func top(of path: String) throws(TaskFailure) -> String {
    let tops = Confinement.flatpakFolders
    if let top = tops.first(where: { path.utf8.starts(with: "\($0)/".utf8) }) { return top }
    guard tops.isEmpty else {
      throw TaskFailure(.failed, "cannot use \(path): it is outside the folders of the sandboxed app")
    }
    return ""
  }

  /// The components of a path, split at the bytes `/`, because Swift sees a slash with a combining mark as one character.
  private static func components(_ path: some Collection<UInt8>) -> [String] {
    path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Splits the absolute path of a file into the folder and the name.
  ///
  /// Throws for a path that is relative, ends in no name, or has an empty component, `.`, `..` or a NUL.
  static func split(_ path: String) throws(TaskFailure) -> (folder: String, name: String) {
    let components = components(path.utf8)
    guard components.count >= 2, components[0].isEmpty, let name = components.last,
      !components.dropFirst().contains(where: { ["", ".", ".."].contains($0) }), !path.utf8.contains(0)
    else {
      throw TaskFailure(.failed, "cannot use the path \(path): give an absolute one of a file, without `.` and `..`")
    }
    return (components.dropLast().joined(separator: "/"), name)
  }

  /// Whether a path leads to an open directory, as ``init(path:)`` walks it; nil if it leads nowhere.
  static func leads(_ path: String, to descriptor: Int32) -> Bool? {
    do throws(TaskFailure) {
      let found = try walk(path)
      defer { close(found) }
      return isSame(found, descriptor)
    } catch {
      return nil
    }
  }

  /// Whether its path now leads to another directory.
  var isSuperseded: Bool { Self.leads(path, to: descriptor) == false }

  /// Whether two descriptors are of one directory.
  static func isSame(_ one: Int32, _ other: Int32) -> Bool {
    var (first, second) = (stat(), stat())
    return fstat(one, &first) == 0 && fstat(other, &second) == 0 && first.st_ino == second.st_ino
      && first.st_dev == second.st_dev
  }

  /// The free bytes for users other than root; nil if the file system does not report them.
  ///
  /// A file system without a size, such as ramfs, has no bound that it could report.
  var room: Int64? {
    var status = statvfs()
    guard fstatvfs(descriptor, &status) == 0, status.f_blocks > 0 else { return nil }
    let (bytes, isTooLarge) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
      by: Int64(clamping: status.f_frsize))
    return isTooLarge ? nil : bytes
  }

  private static func isLink(_ name: String, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}

/// The directory entries of a folder, which fsync(2) of a file does not make durable.
enum FolderNames {
  /// Makes the entries durable; returns an errno(3) on failure.
  ///
  /// Some file systems, such as those over a network, need no sync of a folder and answer EINVAL (fsync(2)).
  static func makeDurable(in folder: Int32) -> Int32? {
    guard fsync(folder) != 0, errno != EINVAL else { return nil }
    return errno
  }
}

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
  /// Throws when the file has a second name, through which another user could write it.
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
