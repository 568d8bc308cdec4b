import Glibc

/// Why a program did not come to run, told by the exit status that the service manager's child had instead
/// (systemd.exec(5), "Process Exit Codes").
///
/// A program that ends at once with such a status cannot be told from one that never ran, so what can be looked at is.
struct ExecFailure {
  /// The statuses that the manager's child has when it fails before the program runs; a program may have them as well.
  static let statuses: ClosedRange<Int32> = 200...255

  let program: String
  let directory: String
  let user: String
  /// Whether the app's file has a `[sandbox]`, without which little can go wrong in the steps between.
  let hasSandbox: Bool

  /// The sentence for a status, like that of ``Spawner``; nil when nothing is wrong with what the status speaks of.
  func sentence(forStatus status: Int32) -> String? {
    switch status {
    case 200:
      isDirectory ? nil : "cannot start \(program): cannot enter its directory \(directory); make it, or name another"
    case 203: code.map { StartError(program, exec: $0).sentence }
    case 216,
      217 where getpwnam(user) == nil:
      "cannot start \(program): cannot become user \(user)"
    default:
      hasSandbox
        ? Self.keys[status].map {
          "cannot start \(program): the service manager cannot apply \($0) of [sandbox] in its app's file"
        } : nil
    }
  }

  /// The keys of `[sandbox]` that are applied in the step which a status is of.
  private static let keys: [Int32: String] = [
    201: "Nice", 205: "a key that begins with Limit", 206: "OOMScoreAdjust",
    211: "IOSchedulingClass or IOSchedulingPriority", 214: "CPUSchedulingPolicy", 217: "PrivateUsers",
    218: "CapabilityBoundingSet, PrivateDevices or Protect…",
    225: "PrivateNetwork", 226: "a path, Private… or Protect…", 227: "NoNewPrivileges",
    228: "SystemCallFilter or Restrict…", 232: "RestrictAddressFamilies",
  ]

  private var isDirectory: Bool {
    var status = stat()
    return stat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// What execve(2) must have answered; nil when nothing is found to be wrong.
  private var code: Int32? {
    let descriptor = open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else {
      return EACCES
    }
    var start = [UInt8](repeating: 0, count: 256)
    start.removeLast(start.count - max(0, read(descriptor, &start, start.count)))
    if start.starts(with: [0x7f] + Array("ELF".utf8)) { return nil }
    guard start.starts(with: Array("#!".utf8)) else { return ENOEXEC }
    let line = start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return access(String(decoding: words.first ?? [], as: UTF8.self), X_OK) == 0 ? nil : ENOENT
  }
}
