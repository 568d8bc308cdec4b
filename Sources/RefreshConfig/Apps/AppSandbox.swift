/// The sandbox of an app's commands: the keys `sandbox`, `writable`, `offline` and `memory_max`.
public struct AppSandbox: Hashable, Sendable {
  /// The values of `sandbox`.
  public enum Level: String, Hashable, Sendable, CaseIterable {
    /// A command may do what its owner may.
    case none
    /// A command reads what its owner may, writes to ``AppSandbox/writable``, and gets no privilege.
    case strict
  }

  /// How much the sandbox restricts.
  public var level = Level.none
  /// The folders that a command in the sandbox may write to, and below.
  public var writable: [String] = []
  /// Whether a command in the sandbox has no network.
  public var isOffline = false
  /// The most bytes of memory of a command, in the sandbox or not; nil for no bound.
  public var memoryMax: Int64?

  /// Makes a sandbox without restrictions.
  public init() {}

  /// The sandbox with the owner's absolute paths, and without settings that have no effect.
  func resolved(for owner: Owner, _ interner: inout Interner) -> AppSandbox {
    var sandbox = self
    sandbox.writable = level == .strict ? interner.intern(writable.map(owner.path)) : []
    sandbox.isOffline = isOffline && level == .strict
    return sandbox
  }

  /// Checks a folder of `writable`.
  static func writable(_ text: String) throws(Unreadable) -> String {
    guard text.isPlainPath else {
      throw Unreadable(
        "cannot write to \(quoted(text)): it is not the absolute path of a folder",
        remedy: #"begin with a slash, or with ~/ for the owner's home, without "..", "." or a final slash"#)
    }
    if let folder = ["/tmp", "/var/tmp"].first(where: { text == $0 || text.hasPrefix("\($0)/") }) {
      throw Unreadable(
        "cannot write to \(quoted(text)): each command has its own \(folder) in the sandbox",
        remedy: "choose a folder elsewhere")
    }
    return text
  }
}

extension LoadContext {
  /// The type of `sandbox`.
  var sandboxLevel: ValueType<AppSandbox.Level> {
    let level = ofUnits(ValueType<AppSandbox.Level>.word(.strict), except: .none)
    return ValueType(example: level.example) { (node, key) throws(Unreadable) in
      if case .table = node.value {
        throw Unreadable(
          "cannot use a table of systemd's settings",
          remedy: #"write sandbox = "strict" above the first line that begins with [, or put the settings in a unit "#
            + #"file and start it by a task with unit = "NAME.service""#)
      }
      return try level.read(node, key)
    }
  }

  /// The type of `memory_max`.
  var memoryMax: ValueType<Int64?> { ofUnits(.optional(.bytes("512M"), none: "none"), except: nil) }

  /// A type whose values, apart from `none`, have an effect only in units.
  private func ofUnits<Value: Equatable>(_ type: ValueType<Value>, except none: Value) -> ValueType<Value> {
    ValueType(example: type.example) { (node, key) throws(Unreadable) in
      guard let value = try type.read(node, key) else { return nil }
      guard self.launcher != .spawn || value == none else {
        throw Unreadable(
          #"cannot sandbox tasks with launcher = "spawn" in refreshd.toml: they run without a unit"#,
          remedy: #"remove the key, or write launcher = "auto""#)
      }
      return value
    }
  }
}

extension [TaskSection] {
  /// Refuses files that refresh-worker could not write in the app's sandbox.
  func refuseTargets(outside sandbox: AppSandbox, of owner: Owner, in sections: inout [Section]) {
    guard sandbox.level == .strict else { return }
    for (index, task) in enumerated() {
      guard let kind = task.kind, let target = task.builtIn?.file?.target,
        !sandbox.writable.contains(where: { owner.path(of: target).hasPrefix("\(owner.path(of: $0))/") })
      else { continue }
      sections[index].refuse(
        kind.key, "cannot write to \(quoted(target)) from the sandbox", remedy: "add its folder to writable")
    }
  }
}
