@preconcurrency import Glibc

/// Runs the systemd programs that know its units: systemctl(1) and systemd-analyze(1).
struct Systemctl {
  /// Whether the units are those of the user's own service manager.
  let isUser: Bool

  private struct Answer {
    let status: Int32
    let output: String
    let errors: String
  }

  /// The properties of units by name; a repeated property has several values.
  func show(_ units: [String], _ properties: [String]) throws(Failure) -> [[String: [String]]] {
    guard !units.isEmpty else { return [] }
    let text = try output(["show", "--property=\(properties.joined(separator: ","))", "--"] + units)
    return text.split(separator: "\n\n", omittingEmptySubsequences: true).map { block in
      var found: [String: [String]] = [:]
      for line in block.split(separator: "\n") {
        guard let sign = line.firstIndex(of: "=") else { continue }
        found[String(line[..<sign]), default: []].append(String(line[line.index(after: sign)...]))
      }
      return found
    }
  }

  /// The assignments with these names in a unit's files and drop-ins, without spaces at the ends and around the sign.
  func assignments(of unit: String, startingWith prefixes: [String]) throws(Failure) -> [String] {
    try output(["cat", "--", unit]).split(whereSeparator: \.isNewline).compactMap { line in
      guard let sign = line.firstIndex(of: "=") else { return nil }
      let (name, value) = (Self.trimmed(line[..<sign]), Self.trimmed(line[line.index(after: sign)...]))
      return prefixes.contains { name.hasPrefix($0) } ? "\(name)=\(value)" : nil
    }
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let start = text.drop(while: \.isWhitespace)
    return start[..<(start.lastIndex { !$0.isWhitespace }.map(start.index(after:)) ?? start.startIndex)]
  }

  /// All timers that are loaded or have a file, except templates.
  func timers() throws(Failure) -> [String] {
    // A pattern instead of a type, because for a type the service manager reads the files of all units.
    let loaded = try output(["list-units", "--all", "--plain", "--no-legend", "*.timer"])
    let files = try output(["list-unit-files", "--no-legend", "*.timer"], mayFindNothing: true)
    let names = (loaded + "\n" + files).split(separator: "\n").compactMap { $0.split(separator: " ").first }
    return Set(names.map(String.init)).filter { $0.hasSuffix(".timer") && !$0.contains("@.") }.sorted()
  }

  /// Runs systemctl to change a unit; throws with systemctl's own message.
  func run(_ arguments: [String]) throws(Failure) { _ = try output(arguments) }

  /// The next local times of calendar expressions, in seconds from an arbitrary day 0; each list is in order.
  func times(of expressions: [String], number: Int) throws(Failure) -> [[Int64]] {
    let command = ["systemd-analyze", "calendar", "--iterations=\(number)", "--"] + expressions
    let answer = try capture(command, zone: "UTC")
    guard answer.status == 0 else { throw Self.failure("systemd-analyze calendar", answer) }
    return answer.output.split(separator: "\n\n").map { block in block.split(separator: "\n").compactMap(Self.time) }
  }

  /// The time in a line such as `Next elapse: Wed 2026-11-25 18:00:00 UTC`; nil for any other line.
  private static func time(_ line: Substring) -> Int64? {
    let words = line.split(separator: " ")
    guard line.contains("Next elapse:") || line.contains("Iter"),
      let day = words.firstIndex(where: { $0.utf8.count == 10 && $0.dropFirst(4).first == "-" }), day + 1 < words.count
    else { return nil }
    let date = words[day].split(separator: "-").compactMap { Int64($0) }
    let clock = words[day + 1].prefix(8).split(separator: ":").compactMap { Int64($0) }
    guard date.count == 3, clock.count == 3 else { return nil }
    var fields = tm()
    (fields.tm_year, fields.tm_mon, fields.tm_mday) = (Int32(date[0]) - 1900, Int32(date[1]) - 1, Int32(date[2]))
    return Int64(timegm(&fields)) + clock[0] * 3600 + clock[1] * 60 + clock[2]
  }

  private func output(_ arguments: [String], mayFindNothing: Bool = false) throws(Failure) -> String {
    let answer = try capture(["systemctl"] + (isUser ? ["--user"] : []) + ["--no-pager"] + arguments)
    if mayFindNothing, answer.status == 1, answer.output.isEmpty, answer.errors.isEmpty { return "" }
    guard answer.status == 0 else {
      throw Self.failure((["systemctl"] + (isUser ? ["--user"] : []) + arguments).joined(separator: " "), answer)
    }
    return answer.output
  }

  private static func failure(_ command: String, _ answer: Answer) -> Failure {
    let reason = answer.errors.split(separator: "\n").last.map(String.init) ?? "exit code \(answer.status)"
    return Failure(status: .failed, text: "cannot run `\(printable(command))`: \(printable(reason))")
  }

  private func capture(_ command: [String], zone: String? = nil) throws(Failure) -> Answer {
    var environment = ["LC_ALL=C", "SYSTEMD_COLORS=0", "SYSTEMD_PAGER=cat"]
    if let zone { environment.append("TZ=\(zone)") }
    for name in ["PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME", "XDG_CONFIG_HOME"] {
      if let value = environmentVariable(name) { environment.append("\(name)=\(value)") }
    }
    do throws(CapturedCommand.NotRun) {
      let captured = try CapturedCommand(command, environment: environment)
      return Answer(status: captured.status, output: captured.output, errors: captured.errors)
    } catch {
      throw Failure(status: .failed, text: "cannot run \(command[0]): \(error.reason); is systemd installed?")
    }
  }
}

/// A finished command, with its output.
private struct CapturedCommand {
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
