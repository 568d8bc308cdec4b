import RefreshEngine

/// One file of `apps.d`, read against the limits and defaults of `refreshd.toml`.
struct AppFile {
  /// The most tasks that an app may have.
  static let mostTasks = 64
  /// The keys that `[defaults]` cannot have.
  static let ownKeys = ["id", "name", "owner", "kind", "pin", "task"]

  let id: (value: AppID, line: Int)?
  let app: AppConfiguration?
  let problems: [Problem]

  init(_ file: ConfigurationFile, _ entries: [Node.Entry], in reading: inout Reading) {
    var section = Section(file: file.path, entries: entries)
    id = section.takeID()
    let name = section.takeText("name", example: "Todo", Self.checkedName)
    let owner = section.takeText("owner", example: "anna") { (text) throws(Unreadable) in
      try reading.owner(text)
    }
    let own = Settings(from: &section, in: &reading)
    let kind = Kind(from: &section, beside: own)
    let settings = kind.completing(own, limits: reading.limits).completed(by: reading.defaults)
    settings.refuseEarlyStaleness(in: &section, limits: reading.limits)
    let pins = Pins(from: &section)
    settings.staleness.refuseIdleCommand(in: &section)
    let tasks = Self.tasks(from: &section, in: &reading)
    section.refuseUnknownKeys()
    problems = section.problems
    guard problems.isEmpty, let id = id?.value else {
      app = nil
      return
    }
    let ownerInForce = owner ?? reading.accounts.user(numbered: reading.reader.uid)
    let policies = reading.sharing.one(tasks.policies(of: ownerInForce))
    var policy = settings.policy(tasks: policies, limits: reading.limits, &reading.sharing)
    policy.isProcessing = kind == .processing
    policy.pins = pins
    policy.owner = ownerInForce.uid
    app = AppConfiguration(
      id: id, owner: ownerInForce, policy: policy,
      commands: reading.commands(of: tasks, settings, ownerInForce),
      tellingCommands: reading.tellingCommands(settings, ownerInForce),
      sandbox: reading.sharing.one(
        settings.sandbox.properties(of: ownerInForce, isUserDaemon: reading.reader.isUserDaemon)),
      givenName: name, folder: reading.sharing.one(file.folder), fileName: file.name == "\(id).toml" ? nil : file.name)
  }

  private static func tasks(from section: inout Section, in reading: inout Reading) -> [TaskSection] {
    let nodes = section.take("task", example: "[[task]], a table for each task") { (node) throws(Unreadable) in
      try Self.tables(node)
    }
    // An app without a task refreshes itself, while a process of it is attached.
    guard let nodes else { return [] }
    var tasks: [TaskSection] = []
    var sections: [Section] = []
    var names: Set<String> = []
    for node in nodes.value {
      var inner = section.inner("task", line: node.line, entries: node.entries)
      let task = TaskSection(from: &inner, in: &reading)
      if let name = task.name, !names.insert(name).inserted {
        inner.refuse(
          "name",
          Unreadable(message: "cannot name two tasks \(quoted(name))", remedy: "give each task a name of its own"))
      }
      sections.append(inner)
      tasks.append(task)
    }
    // Who comes after whom can only be told once all names are known, and only if they all can be read.
    if sections.allSatisfy({ $0.problems.isEmpty }) { tasks.refuseWrongChains(in: &sections) }
    tasks.refuseSharedTargets(in: &sections)
    for inner in sections { section.adopt(inner) }
    return tasks
  }

  private static func tables(_ node: Node) throws(Unreadable) -> [(line: Int, entries: [Node.Entry])]? {
    guard case .array(let elements) = node.value else { return nil }
    guard elements.count <= mostTasks else {
      throw Unreadable(
        message: "cannot refresh an app with \(elements.count) tasks", remedy: "write at most \(mostTasks) tasks")
    }
    var tables: [(line: Int, entries: [Node.Entry])] = []
    for element in elements {
      guard case .table(let entries) = element.value else { return nil }
      tables.append((element.line, entries))
    }
    return tables
  }

  private static func checkedName(_ text: String) throws(Unreadable) -> String {
    guard !text.isEmpty, text.utf8.count <= 255,
      text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
    else {
      throw Unreadable(
        message: "cannot call an app \(quoted(text))", remedy: "write 1 to 255 bytes without control characters")
    }
    return text
  }
}

extension Section {
  fileprivate mutating func takeID() -> (value: AppID, line: Int)? {
    let id = take("id", example: #"id = "org.example.todo""#) { (node) throws(Unreadable) -> AppID? in
      guard case .string(let text) = node.value else { return nil }
      guard let id = AppID(text) else {
        throw Unreadable(
          message: "cannot take \(quoted(text)) as the id of an app",
          remedy: #"write letters, digits, _ and - in two or more parts, as in "org.example.todo""#)
      }
      return id
    }
    if !isWritten("id") {
      refuse(
        "id",
        Unreadable(message: "cannot know an app without an id", remedy: #"write for example id = "org.example.todo""#))
    }
    return id
  }
}
