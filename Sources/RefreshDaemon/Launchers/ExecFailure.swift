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
    case 217: "cannot start \(program): cannot become user \(user)"
    case 226: "cannot start \(program): cannot make its file system namespace; look at what its app's file asks for"
    case 228: "cannot start \(program): cannot filter its system calls; look at what its app's file asks for"
    default: "cannot start \(program): the service manager could not prepare its process (status \(status))"
    }
  }

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
