import CLinux
import Glibc
import RefreshEngine
import Varlink

/// The file `/.flatpak-info`, which Flatpak lays into the root directory of each of its instances.
///
/// A file that cannot be understood means that the caller speaks for nobody.
enum FlatpakInformation {
  /// How long the file may be.
  private static let longest = 16 << 10

  /// The confinement of a process by the file in its root directory; nil without such a file.
  static func confinement(of process: pid_t, _ user: uid_t) -> CallerConfinement? {
    let root = linux_open_path("/proc/\(process)/root")
    // A process whose first thread has ended shows no root directory, and other threads of it go on in a sandbox.
    guard root >= 0 else { return isOfAnother(process, user) ? nil : .fromAll }
    defer { close(root) }
    let descriptor = openat(root, ".flatpak-info", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return errno == ENOENT || isOfAnother(process, user) ? nil : .fromAll }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
      return .fromAll
    }
    return confinement(by: SmallFiles.bytes(of: descriptor, most: longest))
  }

  /// Whether the root directory that could not be opened, for the reason in `errno`, is not a user's to open.
  ///
  /// It is one of root's processes, or of a toolbox, which may have one of FUSE.
  private static func isOfAnother(_ process: pid_t, _ user: uid_t) -> Bool {
    errno == EACCES && (user == 0 && getuid() != 0 || hasRootOfFUSE(process))
  }

  /// The confinement by the bytes of the file, which has groups of keys as a desktop file has.
  static func confinement(by bytes: [UInt8]) -> CallerConfinement {
    guard !bytes.contains(0), bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
      return .fromAll
    }
    var group: Substring = ""
    var values: [String: [Substring]] = [:]
    for line in text.split(separator: "\n").map(\.withoutSpaces) {
      if line.hasPrefix("[") { group = line }
      guard !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
      values["\(group)\(line[..<equals].withoutSpaces)", default: []].append(
        line[line.index(after: equals)...].withoutSpaces)
    }
    guard let names = values["[Application]name"], names.count == 1, let app = AppID(String(names[0])) else {
      return .fromAll
    }
    return .sandbox(
      .init(
        app.description, folder: values["[Instance]instance-path"]?.first.map(String.init),
        hasNetwork: values["[Context]shared"]?.first?.split(separator: ";").contains("network") == true))
  }

  /// Whether the root directory of a process is of a FUSE file system, by its mountinfo: proc(5).
  private static func hasRootOfFUSE(_ process: pid_t) -> Bool {
    let mounts = SmallFiles.text(of: "/proc/\(process)/mountinfo") ?? ""
    let fields = mounts.split(separator: "\n").map { $0.split(separator: " ") }
    let root = fields.last { $0.dropFirst(4).first == "/" }
    return root?.drop { $0 != "-" }.dropFirst().first?.hasPrefix("fuse") == true
  }
}

extension Substring {
  /// The text without spaces and tabs at both ends.
  fileprivate var withoutSpaces: Substring {
    let isSpace = { (character: Character) in character == " " || character == "\t" || character == "\r" }
    let start = drop(while: isSpace)
    return start.lastIndex { !isSpace($0) }.map { start[...$0] } ?? start.prefix(0)
  }
}
