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
    let root = "/proc/\(process)/root"
    let descriptor = open("\(root)/.flatpak-info", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      // The root directory of root's processes is not a user's to open, and a toolbox may have one of FUSE.
      case EACCES where user == 0 && getuid() != 0: return nil
      case EACCES where hasRootOfFUSE(process): return nil
      default: return .fromAll
      }
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= longest else {
      return .fromAll
    }
    return confinement(by: SmallFiles.bytes(of: descriptor, most: longest))
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
