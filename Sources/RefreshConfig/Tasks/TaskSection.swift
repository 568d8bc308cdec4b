import RefreshEngine

/// A `[[task]]` of an app's file.
struct TaskSection {
  let name: String?
  let arguments: [String]?
  /// The built-in kind and its settings; nil for a command.
  let kind: BuiltInKind?
  let builtIn: BuiltIn?
  let newData: NewData
  let noDataExit: Int32
  let retryExit: Int32
  /// The names of the tasks that must end before this task starts.
  let after: [String]
  let context: ExecContext
  /// The name of a task without a name in its file: its program's, `shell` for a shell, the unit's, the key of another
  /// built-in kind.
  let standardName: String

  init(from section: inout Section, in load: LoadContext) {
    let standard = TaskPolicy(name: "")
    name = section.read("name", Self.name)
    let run = section.read("run", load.programs.arguments(example: #"["/usr/bin/mbsync", "inbox"]"#))
    let shell = section.read("shell", Self.shell)
    section.know(BuiltInKind.all.map(\.key))
    kind = BuiltInKind.all.first { section.isWritten($0.key) }
    builtIn = kind?.read(from: &section, in: load)
    let worker = kind.flatMap { kind in load.worker.map { [$0, kind.workerCommand.rawValue] } }
    arguments = worker ?? run ?? shell
    standardName =
      section.isWritten("shell")
      ? "shell"
      : builtIn?.standardName ?? kind?.key ?? arguments?.first?.split(separator: "/").last.map(String.init) ?? "task"
    newData = section.read("new_data", .text("output", Self.newData)) ?? standard.newData
    noDataExit = section.read("no_data_exit", .integer(0...255, example: 100)) ?? standard.noDataExit
    retryExit = section.read("retry_exit", .integer(1...255, example: 75)) ?? standard.retryExit
    after = section.read("after", .array("pull") { $0 }) ?? []
    context = ExecContext(from: &section)
    refuseContradictions(in: &section, load)
    section.refuseUnknownKeys()
  }

  private func refuseContradictions(in section: inout Section, _ load: LoadContext) {
    let commands = (["run", "shell"] + BuiltInKind.all.map(\.key)).filter(section.isWritten)
    if commands.count != 1 {
      let forms =
        [#"run = ["PROGRAM", "ARGUMENT"]"#, #"shell = "COMMAND""#]
        + BuiltInKind.all.map { "\($0.key) = \($0.form)" }
      section.refuse(
        nil,
        commands.isEmpty
          ? "cannot run a task without a command" : "cannot run both \(commands.joined(separator: " and "))",
        remedy: "write one of \(forms.dropLast().joined(separator: ", ")) and \(forms.suffix(1).joined())")
    }
    if case .changed(let path) = newData, let refusal = load.reader.refusalToWatch(path) {
      section.refuse("new_data", refusal)
    }
    if newData == .output, let unseen = kind?.unseenOutput {
      section.refuse("new_data", "cannot judge \(unseen)", remedy: #"write "exit" or "changed:/WHOLE/PATH""#)
    }
    if noDataExit == retryExit {
      section.refuse(
        section.isWritten("retry_exit") ? "retry_exit" : "no_data_exit",
        "cannot tell no data from a failure worth a retry: both are exit code \(retryExit)",
        remedy: "write different codes for no_data_exit and retry_exit")
    }
  }

  private static var name: ValueType<String> {
    .text(
      "pull", where: { (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f } },
      else: { "cannot name a task \(quoted($0))" }, remedy: "write 1 to 64 letters, without spaces")
  }

  private static var shell: ValueType<[String]> {
    .text("cd /srv/mirror && git fetch") { (text) throws(Unreadable) in
      guard !text.isEmpty, !text.utf8.contains(0) else {
        throw Unreadable("cannot run an empty command or one with a NUL", remedy: "write what /bin/sh is to run")
      }
      return ["/bin/sh", "-c", text]
    }
  }

  private static func newData(_ text: String) throws(Unreadable) -> NewData {
    let changed = "changed:"
    switch text {
    case "exit": return .exit
    case "output": return .output
    case _ where text.hasPrefix(changed) && text.dropFirst(changed.count).isPath:
      return .changed(path: String(text.dropFirst(changed.count)))
    default:
      throw Unreadable("cannot take \(quoted(text))", remedy: #"write "exit", "output" or "changed:/WHOLE/PATH""#)
    }
  }
}
