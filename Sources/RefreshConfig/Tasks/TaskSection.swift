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
  /// The name of a task if its file gives none: that of its program or unit, `shell` for a shell, or the key of a
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
          ? "the task has no command" : "cannot run both \(commands.joined(separator: " and "))",
        remedy: "write one of \(forms.dropLast().joined(separator: ", ")) and \(forms.suffix(1).joined())")
    }
    if case .changed(let path) = newData, let refusal = load.reader.refusalToWatch(path) {
      section.refuse("new_data", refusal)
    }
    if newData == .output, let unseen = kind?.unseenOutput {
      section.refuse("new_data", "cannot judge \(unseen)", remedy: #"write "exit" or "changed:/ABSOLUTE/PATH""#)
    }
    if noDataExit == retryExit {
      section.refuse(
        section.isWritten("retry_exit") ? "retry_exit" : "no_data_exit",
        "cannot use exit code \(retryExit) for both no_data_exit and retry_exit",
        remedy: "write two different codes")
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
        throw Unreadable("cannot run an empty command or one with a NUL", remedy: "write what /bin/sh should run")
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
      throw Unreadable(
        "cannot use \(quoted(text)) here", remedy: #"write "exit", "output" or "changed:/ABSOLUTE/PATH""#)
    }
  }
}

/// The tasks of a file together: their names in force, and the order by `after`.
extension [TaskSection] {
  /// The names in the order of the file.
  ///
  /// A task without a name gets its standard name, with a number if that is taken.
  private var names: [String] {
    var taken = Set(compactMap(\.name))
    return map { task in
      if let name = task.name { return name }
      var name = task.standardName
      var number = 2
      while !taken.insert(name).inserted {
        name = "\(task.standardName)-\(number)"
        number += 1
      }
      return name
    }
  }

  /// The tasks in the form of the engine.
  func policies(of owner: Owner) -> [TaskPolicy] {
    let names = names
    let positions = Dictionary(zip(names, names.indices)) { first, _ in first }
    return zip(self, names).map { task, name in
      var newData = task.newData
      if case .changed(let path) = newData { newData = .changed(path: owner.path(of: path)) }
      var policy = TaskPolicy(
        name: name, newData: newData, noDataExit: task.noDataExit, retryExit: task.retryExit)
      policy.after = task.after.compactMap { positions[$0] }.sorted()
      return policy
    }
  }

  /// Refuses unknown and repeated names in `after`, the task's own name, and tasks that wait for each other.
  ///
  /// - Parameter sections: the tables of the tasks, in the same order.
  func refuseWrongChains(in sections: inout [Section]) {
    let names = names
    for (position, task) in enumerated() {
      for (index, name) in task.after.enumerated() {
        if name == names[position] {
          sections[position].refuse(
            "after", "cannot start \(quoted(name)) after itself", remedy: "write the names of other tasks")
        } else if !names.contains(name) {
          let others = names.filter { $0 != names[position] }
          sections[position].refuse(
            "after", "cannot start after \(quoted(name)): no task of this file has that name",
            remedy: others.isEmpty ? "remove the key" : "write one of \(others.map(quoted).joined(separator: ", "))")
        } else if task.after[..<index].contains(name) {
          sections[position].refuse(
            "after", "cannot start after \(quoted(name)) twice", remedy: "write the name once")
        }
      }
    }
    guard sections.allSatisfy({ $0.problems.isEmpty }), let cycle = cycle(among: names) else { return }
    let path = (cycle + cycle.prefix(1)).map { quoted(names[$0]) }.joined(separator: " after ")
    sections[cycle[0]].refuse(
      "after", "cannot start any of these tasks first: \(path)", remedy: "remove one name from after")
  }

  /// A cycle: tasks that each wait for the next, and the last for the first; nil if there is none.
  private func cycle(among names: [String]) -> [Int]? {
    var left = Set(indices)
    while let free = left.first(where: { task in
      self[task].after.allSatisfy { name in !left.contains { names[$0] == name } }
    }) {
      left.remove(free)
    }
    // Each remaining task waits for another remaining task, so following them leads into a cycle.
    guard var task = left.min() else { return nil }
    var path: [Int] = []
    while !path.contains(task) {
      path.append(task)
      guard let next = left.filter({ self[task].after.contains(names[$0]) }).min() else { return nil }
      task = next
    }
    return [Int](path.drop { $0 != task })
  }
}

/// The working directory and environment of a command: keys of a task, of an app and of `[defaults]`.
struct ExecContext {
  private(set) var directory: String?
  private var environment: [String: String] = [:]

  /// The keys that have a use only for processes that refreshd itself starts.
  static let keysOfProcesses = ["directory", "environment"]

  init() {}

  /// Reads the keys of a section.
  init(from section: inout Section) {
    let path = ValueType<String>.text(
      "/srv/mirror", where: \.isPath, else: { "cannot use \(quoted($0)) as a directory: the path is not absolute" },
      remedy: "begin with a slash, or with ~/ for the owner's home")
    directory = section.read("directory", path)
    environment =
      section.readTable("environment", example: #"environment = { LANG = "C.UTF-8" }"#) { table in
        var environment: [String: String] = [:]
        for name in table.keys {
          let value = ValueType<String>.text("C.UTF-8") { (value) throws(Unreadable) in
            try Self.check(name, value)
            return value
          }
          environment[name] = table.read(name, value)
        }
        return environment
      } ?? [:]
  }

  /// The context, with settings of `outer` that it lacks.
  func completed(by outer: ExecContext) -> ExecContext {
    var context = self
    context.directory = directory ?? outer.directory
    context.environment.merge(outer.environment) { own, _ in own }
    return context
  }

  /// The variables in the form of `environ(7)`, in the order of their names.
  var environmentList: [String] { environment.map { "\($0.key)=\($0.value)" }.sorted() }

  private static func check(_ name: String, _ value: String) throws(Unreadable) {
    guard name.utf8.first?.isDigit == false, name.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || $0.isLetterOrDigit })
    else {
      throw Unreadable(
        "cannot use \(quoted(name)) as the name of a variable",
        remedy: "use letters, digits and _, but no digit first")
    }
    guard !name.hasPrefix("REFRESH_") else {
      throw Unreadable(
        "cannot set \(name): refreshd sets the variables with that prefix", remedy: "choose another name")
    }
    guard !value.utf8.contains(0) else {
      throw Unreadable("cannot put a NUL into a variable", remedy: "remove the \\u0000")
    }
  }
}
