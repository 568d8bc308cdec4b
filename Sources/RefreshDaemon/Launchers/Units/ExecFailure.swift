import Glibc

/// Finds out why a program did not run, by the exit status of the service manager's child process.
///
/// See "Process Exit Codes" in systemd.exec(5). A program may exit with such a status itself, so this checks the likely
/// cause, such as a missing file.
struct ExecFailure {
  /// The statuses that the manager's child uses for failures before the program runs; a program may use them too.
  static let statuses: ClosedRange<Int32> = 200...255

  let program: String
  let directory: String
  let user: String
  /// Whether the app's file has a `[sandbox]`; without it, few of the manager's steps can fail.
  let hasSandbox: Bool

  /// The sentence for a status, like the sentence of ``Spawner``; nil if the cause of the status is not found.
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

  /// The `[sandbox]` keys that systemd applies in the step of each status.
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

  /// The error that execve(2) must have returned; nil if the program looks right.
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
