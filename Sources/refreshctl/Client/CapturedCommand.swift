@preconcurrency import Glibc

/// A finished command, with its output.
struct CapturedCommand {
  /// The exit code; 128 plus the signal number if a signal ended the command.
  let status: Int32
  let output: String
  let errors: String

  struct NotRun: Error { let reason: String }

  /// Runs a program that is searched in `PATH`, with `/dev/null` as its input, and waits for its end.
  init(_ command: [String], environment: [String]) throws(NotRun) {
    // Files instead of pipes, because a program that fills one of two pipes would block.
    let files = [tmpfile(), tmpfile()].compactMap(\.self)
    defer { for file in files { fclose(file) } }
    guard files.count == 2 else { throw NotRun(reason: errorText(errno)) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, fileno(files[0]), STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, fileno(files[1]), STDERR_FILENO)
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for pointer in arguments + variables { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, command[0], &actions, nil, &arguments, &variables)
    guard code == 0 else { throw NotRun(reason: errorText(code)) }
    var ended: Int32 = 0
    while waitpid(pid, &ended, 0) < 0, errno == EINTR {}
    let signal = ended & 0x7F
    status = signal == 0 ? ended >> 8 & 0xFF : 128 + signal
    (output, errors) = (Self.text(of: files[0]), Self.text(of: files[1]))
  }

  private static func text(of file: UnsafeMutablePointer<FILE>) -> String {
    rewind(file)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
