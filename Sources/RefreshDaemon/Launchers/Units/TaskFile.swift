import CLinux
import Glibc
import RefreshEngine

/// A file with the environment of a task, and a pipe for its output.
///
/// The unit reads the file by `EnvironmentFile=` (systemd.exec(5)). It has mode 0600, because every user may read the
/// properties of a unit, and the environment has the task's token. Comments in the file keep the state that the next
/// daemon needs to adopt the task. The file exists as long as the unit.
struct TaskFile {
  /// The notes of a previous daemon about a task.
  struct Contents: Hashable {
    /// The token of the task; nil if it has none.
    var token: String?
    /// The fingerprint of the watched path before the start.
    var before: Fingerprint?
    /// Whether the task has printed anything.
    var hasPrinted = false
    /// The first completion that the task reported.
    var completion: TaskCompletion?
  }

  /// The path of the file.
  let path: String
  /// The path of the pipe.
  let output: String

  /// The file for a unit in a directory.
  init(of unit: String, in directory: String) {
    path = "\(directory)/\(unit).env"
    output = "\(directory)/\(unit).out"
  }

  /// Writes the environment of a task, and replaces an existing file.
  func write(_ environment: [String], before: Fingerprint?) throws(SystemCallError) {
    var text = ""
    let token = "REFRESH_TOKEN="
    if let variable = environment.first(where: { $0.hasPrefix(token) }) {
      text += "# token \(variable.dropFirst(token.utf8.count))\n"
    }
    if let before { text += "# before \(before.text)\n" }
    for variable in environment { text += Self.line(for: variable) }
    unlink(path)
    try put(text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC)
  }

  /// Records that the task has printed something.
  func notePrinted() throws(SystemCallError) {
    try put("# printed\n", O_WRONLY | O_APPEND | O_CLOEXEC)
  }

  /// Records the completion of the task.
  func note(_ completion: TaskCompletion) throws(SystemCallError) {
    try put("# completed \(completion.text)\n", O_WRONLY | O_APPEND | O_CLOEXEC)
  }

  /// Whether the task was not released yet.
  var isThere: Bool { access(path, F_OK) == 0 }

  /// Reads the notes; empty if there is no file.
  func read() -> Contents {
    let text = String(decoding: SmallFiles.bytes(of: path), as: UTF8.self)
    var contents = Contents()
    let lines = text.split(separator: "\n")
    // Only the comments before the first variable and after the last: a value may contain any text, but ends in a
    // quote.
    for line in lines.prefix(while: { $0.hasPrefix("# ") }) {
      if line.hasPrefix("# token ") { contents.token = String(line.dropFirst("# token ".count)) }
      if line.hasPrefix("# before ") { contents.before = Fingerprint(text: line.dropFirst("# before ".count)) }
    }
    for line in lines.reversed().prefix(while: { !$0.hasSuffix("\"") }) {
      if line == "# printed" { contents.hasPrinted = true }
      if line.hasPrefix("# completed ") {
        contents.completion = TaskCompletion(text: line.dropFirst("# completed ".count))
      }
    }
    return contents
  }

  /// Removes the file and the pipe.
  func remove() {
    unlink(path)
    unlink(output)
  }

  /// A variable in the syntax of systemd: quoted, with four characters escaped by a backslash.
  ///
  /// Leaves out a name that systemd refuses, such as bash's exported functions, because each would log a warning.
  static func line(for variable: String) -> String {
    guard let equals = variable.firstIndex(of: "="), isName(variable[..<equals]) else { return "" }
    var line = variable[...equals] + "\""
    for letter in variable[variable.index(after: equals)...].unicodeScalars {
      if ["\"", "\\", "`", "$"].contains(letter) { line.append("\\") }
      line.unicodeScalars.append(letter)
    }
    return line + "\"\n"
  }

  private static func isName(_ name: Substring) -> Bool {
    guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
  }

  private func put(_ text: String, _ flags: Int32) throws(SystemCallError) {
    let descriptor = open(path, flags, 0o600)
    guard descriptor >= 0 else { throw SystemCallError(attempt: "open \(path)", code: errno) }
    defer { close(descriptor) }
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemCallError(attempt: "write \(path)", code: errno) }
      rest = rest.dropFirst(count)
    }
  }
}

/// Makes the standard streams of a task.
enum TaskStreams {
  /// A descriptor that reads these bytes: a memory file, which holds any size and needs no writer.
  static func input(_ bytes: [UInt8], for program: String) throws(StartError) -> Int32 {
    let file = linux_memory_file("input")
    guard file >= 0 else { throw StartError(program, "cannot make its standard input", errno) }
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
      guard count > 0 else {
        let code = errno
        close(file)
        throw StartError(program, "cannot write its standard input", code)
      }
      written += count
    }
    lseek(file, 0, SEEK_SET)
    return file
  }

  /// A pipe for the output, with a non-blocking reading end.
  static func output(for program: String) throws(StartError) -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard linux_pipe(&ends) == 0 else { throw StartError(program, "cannot make a pipe for its output", errno) }
    // Only the reading end: programs expect that a write waits.
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    return (ends[0], ends[1])
  }

  /// A pipe at a path (fifo(7)), which the next daemon can open again to read its contents.
  ///
  /// The writing end can read too, so that a task never finds the pipe without a reader (`EPIPE`) while the daemon is
  /// away.
  static func lastingOutput(at path: String, for program: String) throws(StartError) -> (reader: Int32, writer: Int32) {
    unlink(path)
    guard mkfifo(path, 0o600) == 0 else { throw StartError(program, "cannot make a pipe for its output", errno) }
    let writer = open(path, O_RDWR | O_CLOEXEC)
    guard writer >= 0 else { throw StartError(program, "cannot open the pipe for its output", errno) }
    let reader = reopenOutput(at: path)
    guard reader >= 0 else {
      let code = errno
      close(writer)
      throw StartError(program, "cannot open the pipe for its output", code)
    }
    return (reader, writer)
  }

  /// The reading end of a lasting pipe; negative if it cannot be opened.
  static func reopenOutput(at path: String) -> Int32 { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW) }
}

/// The reason why a task could not be started, in a sentence.
struct StartError: Error {
  let sentence: String
  /// Whether the machine had no process, memory or descriptor to spare, which may be over in a moment.
  var isPassing = false

  init(sentence: String) { self.sentence = sentence }

  /// The end of a task that did not start for this reason.
  var exit: TaskEnd.Exit { isPassing ? .noMeans(sentence) : .notStarted(sentence) }

  private static let passing = [EAGAIN, ENOMEM, EMFILE, ENFILE]

  init(_ program: String, _ what: String, _ code: Int32, remedy: String = "") {
    self.init(sentence: "cannot start \(program): \(what): \(SystemCallError.text(of: code))\(remedy)")
    isPassing = Self.passing.contains(code)
  }

  /// Makes the sentence for an error of execve(2).
  init(_ program: String, exec code: Int32) {
    let remedy =
      switch code {
      case ENOENT: "; install it, or what its #! line names"
      case EACCES: "; make it executable for the app's owner"
      case ENOEXEC: "; it is neither a program of this machine nor a script with a #! line"
      default: ""
      }
    self.init(sentence: "cannot start \(program): \(SystemCallError.text(of: code))\(remedy)")
    isPassing = Self.passing.contains(code)
  }
}
