import Glibc

/// The unit files of this machine, with which `check` warns of a unit that nobody can start.
///
/// A missing unit is no mistake of a configuration, because it may be installed later.
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
        "cannot start \(name) for \(owner.name): it is a unit of the machine, and this app means units of its owner's own "
          + "service manager",
        remedy: "let an app of root in the system's daemon start it, or write a unit into ~/.config/systemd/user")
    }
    let whose = unit.isOfMachine ? "the machine" : owner.name
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
      // A file may exist that this process must not see.
      return errno == ENOENT || errno == ENOTDIR ? .missing : .unknown
    }
    return status.st_mode & S_IFMT == S_IFCHR || status.st_size == 0 ? .masked : .found
  }
}

extension UnitFiles {
  /// Reads the files of this machine.
  public init() { self.init(root: "") }

  /// The names of the units with an ending that have a file, without templates; asks no service manager.
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
