/// The table `[sandbox]` of an app's file or of `[defaults]`.
struct SandboxSettings {
  /// The properties of each key.
  private var keys: [String: [SandboxProperty]] = [:]

  init() {}

  /// Reads the table of a section.
  init(from section: inout Section, in load: LoadContext) {
    let example = #"[sandbox], with ProtectSystem = "strict" below it"#
    let keys = section.readTable("sandbox", example: example, refused: SandboxRefusals.all) { table in
      for key in SandboxKey.all { self.keys[key.name] = table.read(key.name, key.type) }
      if load.reader.isUserDaemon { refuseForUsers(in: &table) }
      return self.keys
    }
    if keys != nil, load.launcher == .spawn {
      section.refuse(
        "sandbox", #"cannot put tasks into a sandbox with launcher = "spawn" in refreshd.toml: they have no unit"#,
        remedy: #"remove the table, or write launcher = "auto""#)
    }
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

  /// The settings with the keys that only `defaults` have.
  func completed(by defaults: SandboxSettings) -> SandboxSettings {
    var settings = self
    settings.keys.merge(defaults.keys) { own, _ in own }
    return settings
  }

  /// The properties for the tasks of an owner, with `~/` replaced by the owner's home, in the order of the keys.
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
  /// The absolute path for a path that may begin with `~/`, after the hyphen of an optional path.
  fileprivate func sandboxPath(of written: String) -> String {
    written.hasPrefix("-") ? "-" + path(of: String(written.dropFirst())) : path(of: written)
  }
}
