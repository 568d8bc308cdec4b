import RefreshEngine

/// One `[[task]]` of an app's file.
struct TaskSection {
  var name: String?
  var arguments: [String]?
  /// The built-in kind, in the place of a program.
  var builtIn: BuiltInSection?
  var newData: NewData
  var noDataExit: Int32
  var retryExit: Int32
  /// The names of the tasks that it comes after.
  var after: [String]
  var surroundings: Surroundings
  /// Whether `shell` asked for one.
  private var isShell = false

  init(from section: inout Section, in reading: inout Reading) {
    let standard = TaskPolicy(name: "")
    name = section.takeText("name", example: "pull", Self.checkedName)
    let run = section.takeArguments("run", example: #"["/usr/bin/mbsync", "inbox"]"#, &reading.programs)
    let shell = section.takeText("shell", example: "cd /srv/mirror && git fetch") { (text) throws(Unreadable) in
      guard !text.isEmpty, !text.utf8.contains(0) else {
        throw Unreadable(
          message: "cannot run an empty command or one with a NUL", remedy: "write what /bin/sh is to run")
      }
      return ["/bin/sh", "-c", text]
    }
    builtIn = BuiltInSection(from: &section, in: &reading)
    let commands = ["run", "shell", "http", "transfer"].filter(section.isWritten)
    if commands.count != 1 {
      section.refuse(
        nil,
        Unreadable(
          message: commands.isEmpty
            ? "cannot run a task without a command" : "cannot run both \(commands.joined(separator: " and "))",
          remedy:
            #"write one of run = ["PROGRAM", "ARGUMENT"], shell = "COMMAND", http = { url = "URL", to = "/PATH" }"#
            + #" and transfer = { url = "URL", to = "/PATH" }"#))
    }
    arguments = run ?? shell
    if let word = builtIn.flatMap({ BuiltInSection.words[$0.key] }) { arguments = reading.worker.map { [$0, word] } }
    isShell = section.isWritten("shell")
    newData = section.takeText("new_data", example: "output", Self.newData) ?? standard.newData
    if case .changed(let path) = newData, let refusal = reading.reader.refusalToWatch(path) {
      section.refuse("new_data", refusal)
    }
    noDataExit = section.takeInteger("no_data_exit", within: 0...255, example: 100) ?? standard.noDataExit
    retryExit = section.takeInteger("retry_exit", within: 1...255, example: 75) ?? standard.retryExit
    if noDataExit == retryExit {
      section.refuse(
        section.isWritten("retry_exit") ? "retry_exit" : "no_data_exit",
        Unreadable(
          message: "cannot tell no data from a failure worth a retry: both are exit code \(retryExit)",
          remedy: "write different codes for no_data_exit and retry_exit"))
    }
    after = section.takeTexts("after", example: "pull") { _ in } ?? []
    surroundings = Surroundings(from: &section)
    section.refuseUnknownKeys()
  }

  /// The name of a task that has none: its program's, `shell` for a shell, the key of a built-in kind.
  var standardName: String {
    if isShell { return "shell" }
    if let builtIn { return builtIn.key }
    return arguments?.first?.split(separator: "/").last.map(String.init) ?? "task"
  }

  private static func checkedName(_ text: String) throws(Unreadable) -> String {
    guard !text.isEmpty, text.utf8.count <= 64, text.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7f })
    else {
      throw Unreadable(
        message: "cannot name a task \(quoted(text))", remedy: "write 1 to 64 letters, without spaces")
    }
    return text
  }

  private static func newData(_ text: String) throws(Unreadable) -> NewData {
    let changed = "changed:"
    switch text {
    case "exit": return .exit
    case "output": return .output
    case _ where text.hasPrefix(changed) && text.dropFirst(changed.count).isPath:
      return .changed(path: String(text.dropFirst(changed.count)))
    default:
      throw Unreadable(
        message: "cannot take \(quoted(text))", remedy: #"write "exit", "output" or "changed:/WHOLE/PATH""#)
    }
  }
}
