/// The table `[sandbox]` of an app's file or of `[defaults]`, as far as it is written.
struct SandboxSettings {
  /// What each key asks for.
  private var keys: [String: [SandboxProperty]] = [:]

  init() {}

  /// Takes the table out of a section.
  init(from section: inout Section, in reading: Reading) {
    guard var table = section.takeTable("sandbox", example: #"[sandbox], with ProtectSystem = "strict" below it"#)
    else { return }
    if reading.launcher == .spawn {
      section.refuse(
        "sandbox",
        Unreadable(
          message: #"cannot put tasks into a sandbox with launcher = "spawn" in refreshd.toml: they have no unit"#,
          remedy: #"remove the table, or write launcher = "auto""#))
    }
    for key in SandboxKey.all {
      let taken = table.take(
        key.name, example: "\(key.name) = \(key.example)", { (node) throws(Unreadable) in try key.read(node) })
      keys[key.name] = taken?.value
    }
    if reading.reader.isUserDaemon { refuseForUsers(in: &table) }
    table.refuseUnknownKeys(refused: SandboxRefusals.all)
    section.adopt(table)
  }

  private func refuseForUsers(in table: inout Section) {
    for key in keys.keys.sorted() where SandboxOfUsers.refused.contains(key) {
      table.refuse(key, SandboxOfUsers.refusal(of: key))
    }
    if keys["PrivateUsers"] == [SandboxProperty("PrivateUsers", .boolean(false))],
      let key = SandboxOfUsers.firstNeedingPrivateUsers(in: keys)
    {
      table.refuse("PrivateUsers", SandboxOfUsers.refusalOfSharedUsers(beside: key))
    }
  }

  /// The same settings, with the keys that only those of `defaults` have.
  func completed(by defaults: SandboxSettings) -> SandboxSettings {
    var settings = self
    settings.keys.merge(defaults.keys) { mine, _ in mine }
    return settings
  }

  /// The properties for the tasks of an owner, whose home `~/` stands for, in the order of the keys.
  func properties(of owner: Owner, isUserDaemon: Bool) -> [SandboxProperty] {
    var keys = keys
    if isUserDaemon, SandboxOfUsers.firstNeedingPrivateUsers(in: keys) != nil {
      keys["PrivateUsers"] = [SandboxProperty("PrivateUsers", .boolean(true))]
    }
    return keys.sorted { $0.key < $1.key }.flatMap(\.value).map { property in
      guard case .texts(let texts) = property.value else { return property }
      return SandboxProperty(property.name, .texts(texts.map(owner.sandboxPath)))
    }
  }
}

extension Owner {
  /// The path of one that may begin with `~/`, behind the hyphen for a path that need not be there.
  fileprivate func sandboxPath(of written: String) -> String {
    written.hasPrefix("-") ? "-" + path(of: String(written.dropFirst())) : path(of: written)
  }
}
