import Glibc

/// The file with a task's environment, which its unit reads (`EnvironmentFile=`, systemd.exec(5)), and the pipe for its
/// output beside it.
///
/// A file of the daemon's own (mode 0600), because every user may read a unit's properties, and the environment has the
/// task's token and whatever an app's file says. It also holds what a daemon must know of a task that it finds again, in
/// comments, and is there as long as the unit.
struct TaskFile {
  /// What a daemon before this one wrote of a task.
  struct Contents: Hashable {
    /// The task's token; nil when it has none.
    var token: String?
    /// What was at the path whose change counts.
    var before: Fingerprint?
    /// Whether the task has printed anything.
    var hasPrinted = false
    /// What the task has said of itself, the first time.
    var completion: Completion?
  }

  /// Where it is.
  let path: String
  /// Where the pipe is.
  let output: String

  /// The file of a unit's task in a directory.
  init(of unit: String, in directory: String) {
    path = "\(directory)/\(unit).env"
    output = "\(directory)/\(unit).out"
  }

  /// Writes a task's environment, in place of a file that is there.
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

  /// Adds that the task has printed something.
  func notePrinted() throws(SystemCallError) {
    try put("# printed\n", O_WRONLY | O_APPEND | O_CLOEXEC)
  }

  /// Adds what the task has said of itself.
  func note(_ completion: Completion) throws(SystemCallError) {
    try put("# completed \(completion.text)\n", O_WRONLY | O_APPEND | O_CLOEXEC)
  }

  /// Whether the task was not released yet.
  var isThere: Bool { access(path, F_OK) == 0 }

  /// What it says; nothing when it is not there.
  func read() -> Contents {
    let text = String(decoding: Processes.contents(of: path), as: UTF8.self)
    var contents = Contents()
    let lines = text.split(separator: "\n")
    // Only the lines before the first variable and after the last, which ends in a quote: a value may have any text in it.
    for line in lines.prefix(while: { $0.hasPrefix("# ") }) {
      if line.hasPrefix("# token ") { contents.token = String(line.dropFirst("# token ".count)) }
      if line.hasPrefix("# before ") { contents.before = Fingerprint(text: line.dropFirst("# before ".count)) }
    }
    for line in lines.reversed().prefix(while: { !$0.hasSuffix("\"") }) {
      if line == "# printed" { contents.hasPrinted = true }
      if line.hasPrefix("# completed ") { contents.completion = Completion(text: line.dropFirst("# completed ".count)) }
    }
    return contents
  }

  /// Takes both away.
  func remove() {
    unlink(path)
    unlink(output)
  }

  /// A variable as systemd reads it: in quotes, in which four letters need a backslash and nothing else is special.
  ///
  /// A name that systemd would refuse, as bash gives to functions, is left out: each would be a warning in the journal.
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
