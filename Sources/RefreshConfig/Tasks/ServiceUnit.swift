import Glibc
import RefreshAPI
import RefreshEngine

/// The settings of a task of the built-in kind `unit`.
public struct ServiceUnit: Hashable, Sendable {
  /// The name of the service, such as `mbsync@work.service`.
  public let name: String
  /// Whether the unit belongs to the machine's service manager, and not to the owner's.
  ///
  /// Only root's apps in the system's daemon name units of the machine.
  public private(set) var isOfMachine = false

  /// The most bytes in the name of a unit (`UNIT_NAME_MAX` of systemd).
  private static let longest = 255

  private init(name: String) { self.name = name }

  /// Reads the key, and refuses contradicting keys; nil if the name is refused.
  static func read(from section: inout Section) -> ServiceUnit? {
    for key in ExecContext.keysOfProcesses where section.isWritten(key) {
      section.refuse(
        key, "cannot set \(key) for a unit: systemd starts it with the settings of its own file",
        remedy: "put it in a drop-in of the unit (systemctl edit)")
    }
    return section.read(
      "unit", .text("mbsync.service") { (text) throws(Unreadable) in try ServiceUnit(checking: text) })
  }

  /// The task for an owner's app.
  func resolved(for owner: Owner, by reader: Reader) -> ServiceUnit {
    var task = self
    task.isOfMachine = owner.uid == 0 && !reader.isUserDaemon
    return task
  }

  fileprivate init(checking text: String) throws(Unreadable) {
    guard !text.isEmpty, !Self.suffixes.contains(text[...]), text.utf8.allSatisfy(\.isOfUnitName),
      text.utf8.count <= Self.longest
    else {
      throw Unreadable(
        "cannot use \(quoted(text)) as the name of a unit",
        remedy: #"write the name that systemctl shows, as in "mbsync.service""#)
    }
    guard let point = text.lastIndex(of: "."), Self.suffixes.contains(text[point...]) else {
      throw Unreadable(
        "cannot use \(quoted(text)) as the name of a unit: it has no suffix",
        remedy: "write \(quoted("\(text).service"))")
    }
    guard text[point...] == ".service" else {
      let service = quoted("\(text[..<point]).service")
      throw Unreadable(
        "cannot wait for the end of \(quoted(text)): only a service does its work and ends",
        remedy: text[point...] == ".timer" ? "write the unit that it starts, such as \(service)" : "write a .service")
    }
    guard text[..<point].last != "@" else {
      throw Unreadable(
        "cannot start the template \(quoted(text)) itself",
        remedy: "write an instance, such as \(quoted("\(text[..<point])work.service"))")
    }
    guard !text.hasPrefix("refreshd") else {
      throw Unreadable("cannot start \(quoted(text)): it belongs to refreshd", remedy: "choose another unit")
    }
    self.init(name: text)
  }

  /// The name without its suffix.
  var shortName: String { String(name.dropLast(".service".utf8.count)) }

  /// The order for the worker.
  func order(_ policy: TaskPolicy) -> Wire.UnitOrder {
    Wire.UnitOrder(
      unit: name, manager: isOfMachine ? .system : .user, noDataExit: Int(policy.noDataExit),
      retryExit: Int(policy.retryExit))
  }

  /// The unit of a guard.
  init(_ unit: GuardedUnit) { (name, isOfMachine) = (unit.name, unit.user == nil) }

  /// The kinds of units (systemd.unit(5)).
  fileprivate static let suffixes: [Substring] = [
    ".service", ".socket", ".device", ".mount", ".automount", ".swap", ".target", ".path", ".timer", ".slice", ".scope",
  ]
}

extension GuardedUnit {
  /// Checks the name of the unit of a guard, which must be a service.
  static func name(checking text: String) throws(Unreadable) -> String {
    if let point = text.lastIndex(of: "."), ServiceUnit.suffixes.contains(text[point...]), text[point...] != ".service"
    {
      throw Unreadable(
        "cannot guard \(quoted(text)): refreshd stops and starts only services", remedy: "write a .service")
    }
    return try ServiceUnit(checking: text).name
  }
}

extension UInt8 {
  /// Whether the byte may be in the name of a unit (systemd.unit(5), "Description").
  fileprivate var isOfUnitName: Bool { isLetterOrDigit || ":-_.\\@".utf8.contains(self) }
}

/// The unit files of this machine, for the warnings of `check` about units that cannot be started.
///
/// A missing unit is not a mistake in a configuration, because it may be installed later.
public struct UnitFiles {
  /// The directory in place of `/`.
  var root: String

  /// The directories of units, strongest first (systemd.unit(5), "Unit File Load Path").
  private static let ofMachine =
    [
      "/etc/systemd/system.control", "/run/systemd/system.control", "/run/systemd/transient",
      "/run/systemd/generator.early", "/etc/systemd/system", "/run/systemd/system", "/run/systemd/generator",
      "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system",
      "/run/systemd/generator.late",
    ]
  private static let ofEveryUser = [
    "/etc/systemd/user", "/run/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
    "/usr/local/share/systemd/user", "/usr/share/systemd/user",
  ]

  private enum Look {
    case found
    case masked
    case missing
    /// A file system does not answer.
    case unknown
  }

  /// The warnings about the units of the apps.
  func warnings(of configuration: Configuration) -> [Problem] {
    configuration.apps.flatMap { app in
      let units = app.commands.compactMap(\.unit).map { ("task.unit", $0) }
      return (units + (app.policy.guarded.map { [("unit", ServiceUnit($0))] } ?? [])).compactMap { key, unit in
        mistake(of: unit, owner: app.owner).map {
          Problem(file: app.file, key: key, message: $0.message, remedy: $0.remedy, isWarning: true)
        }
      }
    }
  }

  private func mistake(of unit: ServiceUnit, owner: Owner) -> Unreadable? {
    let name = unit.name
    let systemctl = unit.isOfMachine ? "systemctl" : "systemctl --user"
    switch look(for: name, in: unit.isOfMachine ? Self.ofMachine : Self.folders(of: owner)) {
    case .found, .unknown: return nil
    case .masked: return Unreadable("cannot start \(name): it is masked", remedy: "run \(systemctl) unmask \(name)")
    case .missing: break
    }
    if !unit.isOfMachine, case .found = look(for: name, in: Self.ofMachine) {
      return Unreadable(
        "cannot start \(name) for \(owner.name): it is a unit of the system, and this app starts units of its "
          + "owner's service manager",
        remedy: "start it from an app of root in the system's daemon, or put a unit in ~/.config/systemd/user")
    }
    let whose = unit.isOfMachine ? "the system" : owner.name
    return Unreadable("cannot find \(name) among the units of \(whose)", remedy: "correct the name, or install it")
  }

  private static func folders(of owner: Owner) -> [String] { folders(of: owner.uid, home: owner.home) }

  private static func folders(of uid: UInt32, home: String) -> [String] {
    let runtime = "/run/user/\(uid)/systemd"
    let ofRuntime = ["transient", "user", "generator.early", "generator", "generator.late"].map { "\(runtime)/\($0)" }
    return ["\(home)/.config/systemd/user"] + ofRuntime + ofEveryUser + ["\(home)/.local/share/systemd/user"]
  }

  private func look(for name: String, in folders: [String]) -> Look {
    for folder in folders {
      for file in Self.names(of: name) {
        let path = "\(root)\(folder)/\(file)"
        guard let look = Patience.ask(about: "files in \(folder)/", { Self.look(at: path) }) else { return .unknown }
        if case .missing = look { continue }
        return look
      }
    }
    return .missing
  }

  /// The possible file names of a unit: its own, and its template's.
  private static func names(of unit: String) -> [String] {
    guard let at = unit.firstIndex(of: "@"), let point = unit.lastIndex(of: ".") else { return [unit] }
    return [unit, "\(unit[...at])\(unit[point...])"]
  }

  private static func look(at path: String) -> Look {
    var status = stat()
    guard stat(path, &status) == 0 else {
      // The file may exist although this process may not look at it.
      return errno == ENOENT || errno == ENOTDIR ? .missing : .unknown
    }
    return status.st_mode & S_IFMT == S_IFCHR || status.st_size == 0 ? .masked : .found
  }
}

extension UnitFiles {
  /// Reads the files of this machine.
  public init() { self.init(root: "") }

  /// The names of the units with an ending that have a file, except templates; asks no service manager.
  ///
  /// `user` is the user whose units to list, with the home directory; nil lists the machine's units.
  public func names(endingIn ending: String, ofUser user: (uid: UInt32, home: String)? = nil) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    var flags: Int32 = 0
    for folder in user.map({ Self.folders(of: $0.uid, home: $0.home) }) ?? Self.ofMachine {
      glob("\(root)\(folder)/*\(ending)", flags, nil, &found)
      flags = GLOB_APPEND
    }
    let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
    let names = paths.map { $0[($0.lastIndex(of: "/").map($0.index(after:)) ?? $0.startIndex)...] }
    return Set(names.map(String.init)).filter { $0.dropLast(ending.count).last != "@" }.sorted()
  }
}
