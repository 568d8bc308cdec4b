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
  /// Whether the app has `sandbox = "strict"`; without it, few of the manager's steps can fail.
  let isStrict: Bool

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
      isStrict && Self.ofSandbox.contains(status)
        ? "cannot start \(program): the service manager cannot make its sandbox (exit status \(status) in "
          + "systemd.exec(5)); see that it can open the folders of writable, and may make namespaces on this machine"
        : nil
    }
  }

  /// The statuses of the steps that make the sandbox: user, capabilities, network, name spaces, system calls.
  private static let ofSandbox: Set<Int32> = [217, 218, 225, 226, 227, 228, 232]

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
