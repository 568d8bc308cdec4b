import RefreshEngine
import Systemd

/// The names of the units of a daemon's tasks, by which the next daemon finds them.
///
/// `refreshd-task-12-345-0.service` is task 0 of refresh 12-345. It is in the slice of its app, below `refreshd.slice`.
/// If the daemon has a custom state directory, the names contain its hash, so that two daemons of one manager do not
/// collide.
struct UnitNames: Hashable, Sendable {
  /// The pattern for `ListUnitsByPatterns` that matches the units of all daemons.
  static let pattern = "\(start)*\(end)"

  /// The slice of all apps.
  static let slice = "refreshd.slice"

  private static let start = "refreshd-task-"
  private static let end = ".service"
  /// The maximum length of a unit's name (`UNIT_NAME_MAX` of systemd).
  private static let longest = 255
  private let own: String

  /// The names for a daemon with this state directory.
  init(stateDirectory: String, isStandard: Bool) {
    own = isStandard ? "" : String(StableHash.of(stateDirectory), radix: 16).prefix(8) + "-"
  }

  func unit(of key: ProcessKey) -> String { Self.start + own + key.description + Self.end }

  /// The task of a unit; nil if the unit does not belong to this daemon.
  func key(ofUnit name: String) -> ProcessKey? {
    guard name.hasPrefix(Self.start + own), name.hasSuffix(Self.end) else { return nil }
    return ProcessKey(name.dropFirst(Self.start.utf8.count + own.utf8.count).dropLast(Self.end.utf8.count))
  }

  /// The slice of an app (systemd.slice(5)): `refreshd-org.example.todo.slice`.
  ///
  /// A dash would start a nested slice, so it is escaped as systemd-escape(1) does. An id that is too long for a name
  /// is replaced by its hash.
  static func slice(of app: AppID) -> String {
    let name =
      "refreshd-\(app.description.split(separator: "-", omittingEmptySubsequences: false).joined(separator: "\\x2d")).slice"
    return name.utf8.count <= longest ? name : "refreshd-\(String(StableHash.of(app.description), radix: 16)).slice"
  }

  /// Whether the name has the form of a task's unit, of any daemon.
  static func isUnit(_ name: Substring) -> Bool { name.hasPrefix(start) && name.hasSuffix(end) }

  /// The app of a slice; nil if the slice has no app or only the hash of its name.
  static func app(ofSlice name: Substring) -> AppID? {
    guard name.hasPrefix("refreshd-"), name.hasSuffix(".slice") else { return nil }
    return AppID(unescaped(name.dropFirst("refreshd-".count).dropLast(".slice".count)))
  }

  /// A part of a unit's name whose dashes were escaped.
  static func unescaped(_ name: Substring) -> String {
    var rest = name
    var text = ""
    while let backslash = rest.firstIndex(of: "\\") {
      text += rest[..<backslash]
      rest = rest[backslash...]
      let isDash = rest.hasPrefix("\\x2d")
      text += isDash ? "-" : "\\"
      rest = rest.dropFirst(isDash ? 4 : 1)
    }
    return text + rest
  }

  /// The path of a unit's cgroup below its manager's cgroup.
  func cgroup(of key: ProcessKey, app: AppID) -> String { "refreshd.slice/\(Self.slice(of: app))/\(unit(of: key))" }
}

extension ProcessKey {
  /// Reads the form that `description` writes, `12-345-0`; nil for any other text.
  init?(_ text: some StringProtocol) {
    guard let dash = text.lastIndex(of: "-"), let run = RunID(String(text[..<dash])),
      let task = Int(text[text.index(after: dash)...]), task >= 0
    else { return nil }
    self.init(run: run, task: task)
    if description != text { return nil }
  }
}
