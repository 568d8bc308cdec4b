import Glibc

/// Why a program did not come to run, told by the exit status that the service manager's child had instead
/// (systemd.exec(5), "Process Exit Codes").
enum ExecFailure {
  /// The statuses that the manager's child has when it fails before the program runs; a program may have them as well.
  static let statuses: ClosedRange<Int32> = 200...255

  /// The sentence for a status, like that of ``Spawner``.
  static func sentence(status: Int32, program: String, directory: String, user: String) -> String {
    switch status {
    case 200: "cannot start \(program): cannot enter its directory \(directory); make it, or name another"
    case 203: program203(program)
    case 216: "cannot start \(program): cannot join the groups of user \(user)"
    case 217: "cannot start \(program): cannot become user \(user), or PrivateUsers of [sandbox] cannot be had here"
    default:
      keys[status].map {
        "cannot start \(program): the service manager cannot apply \($0) of [sandbox] in its app's file"
      }
        ?? "cannot start \(program): the service manager could not prepare its process (status \(status))"
    }
  }

  /// The keys of `[sandbox]` that are applied in the step which a status is of.
  private static let keys: [Int32: String] = [
    201: "Nice", 205: "a key that begins with Limit", 206: "OOMScoreAdjust",
    211: "IOSchedulingClass or IOSchedulingPriority",
    214: "CPUSchedulingPolicy", 218: "CapabilityBoundingSet", 225: "PrivateNetwork",
    226: "a path, Private… or Protect…",
    227: "NoNewPrivileges", 228: "SystemCallFilter or Restrict…", 232: "RestrictAddressFamilies",
  ]

  /// Looks for what execve(2) may have found, which nobody told.
  private static func program203(_ program: String) -> String {
    let code: Int32
    let descriptor = open(program, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 {
      code = errno
    } else {
      defer { close(descriptor) }
      var status = stat()
      var start: [UInt8] = [0, 0, 0, 0]
      let count = read(descriptor, &start, start.count)
      if fstat(descriptor, &status) != 0 || status.st_mode & 0o111 == 0 || status.st_mode & S_IFMT != S_IFREG {
        code = EACCES
      } else if start.starts(with: Array("#!".utf8)) {
        code = ENOENT
      } else {
        code = count == 4 && start == [0x7f] + Array("ELF".utf8) ? EACCES : ENOEXEC
      }
    }
    return StartError(program, exec: code).sentence
  }
}
