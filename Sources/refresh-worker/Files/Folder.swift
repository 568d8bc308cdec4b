import CLinux
import Glibc

/// An open directory whose path had no symbolic link; later changes of the path do not affect it.
///
/// A process that works for a Flatpak opens what lies below the folders of that Flatpak only (``Confinement``).
final class Folder {
  let path: String
  /// Open for reading, because fsync(2) needs that.
  let descriptor: Int32

  /// Opens the components from the root, one after the other.
  ///
  /// `path` is absolute and has no empty component, no `.` and no `..`. Throws when a component is a symbolic link, is
  /// missing, is no directory, or may not be searched.
  init(path: String) throws(TaskFailure) {
    self.path = path
    guard Confinement.flatpakFolders.isEmpty else {
      descriptor = try Self.open(path, belowOneOf: Confinement.flatpakFolders)
      return
    }
    let place = try Self.walk(path)
    descriptor = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let code = errno
    close(place)
    guard descriptor >= 0 else { throw TaskFailure(errno: code, "open the folder", path.isEmpty ? "/" : path) }
  }

  deinit { close(descriptor) }

  /// Opens a folder only to name it, which Landlock allows everywhere.
  private static func walk(_ path: String) throws(TaskFailure) -> Int32 {
    var current = linux_open_folder(AT_FDCWD, "/")
    var walked = ""
    for component in path.split(separator: "/") {
      guard current >= 0 else { break }
      walked += "/\(component)"
      let next = linux_open_folder(current, String(component))
      let code = errno
      let isLink = next < 0 && isLink(component, in: current)
      close(current)
      if isLink { throw TaskFailure(.failed, "cannot use \(path): \(walked) is a symbolic link; give the real path") }
      guard next >= 0 else { throw TaskFailure(errno: code, "open the folder", walked) }
      current = next
    }
    guard current >= 0 else { throw TaskFailure(errno: errno, "open the folder", "/") }
    return current
  }

  /// Opens a folder of a Flatpak, which may put a link in any place below its folders at any time.
  ///
  /// Links above those folders are the user's: the Flatpak cannot replace them.
  private static func open(_ path: String, belowOneOf tops: [String]) throws(TaskFailure) -> Int32 {
    guard let top = tops.first(where: { path.utf8.starts(with: "\($0)/".utf8) }) else {
      throw TaskFailure(.failed, "cannot use \(path): it is outside the folders of the sandboxed app")
    }
    let base = linux_open_path(top)
    guard base >= 0 else { throw TaskFailure(errno: errno, "open the folder", top) }
    defer { close(base) }
    let below = String(decoding: path.utf8.dropFirst(top.utf8.count + 1), as: UTF8.self)
    let descriptor = linux_open_beneath(base, below, O_RDONLY | O_DIRECTORY)
    let code = errno
    if descriptor < 0, code == ELOOP || code == EXDEV {
      throw TaskFailure(.failed, "cannot use \(path): a symbolic link is in it; give the real path")
    }
    guard descriptor >= 0 else { throw TaskFailure(errno: code, "open the folder", path) }
    return descriptor
  }

  /// Splits the absolute path of a file into the folder and the name.
  ///
  /// Throws for a path that is relative, ends in no name, or has an empty component, `.`, `..` or a NUL.
  static func split(_ path: String) throws(TaskFailure) -> (folder: String, name: String) {
    let components = path.split(separator: "/", omittingEmptySubsequences: false)
    guard components.count >= 2, components[0].isEmpty, let name = components.last,
      !components.dropFirst().contains(where: { ["", ".", ".."].contains($0) }), !path.utf8.contains(0)
    else {
      throw TaskFailure(.failed, "cannot use the path \(path): give an absolute one of a file, without `.` and `..`")
    }
    return (components.dropLast().joined(separator: "/"), String(name))
  }

  /// Whether a path leads to an open directory, as ``init(path:)`` walks it; nil if it leads nowhere.
  static func leads(_ path: String, to descriptor: Int32) -> Bool? {
    do throws(TaskFailure) {
      let isOfFlatpak = !Confinement.flatpakFolders.isEmpty
      let found = isOfFlatpak ? try open(path, belowOneOf: Confinement.flatpakFolders) : try walk(path)
      defer { close(found) }
      return isSame(found, descriptor)
    } catch {
      return nil
    }
  }

  /// Whether its path leads to another directory by now.
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

  private static func isLink(_ name: Substring, in folder: Int32) -> Bool {
    var status = stat()
    return fstatat(folder, String(name), &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_mode & S_IFMT == S_IFLNK
  }
}
