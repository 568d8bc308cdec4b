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
        remedy: "write it into a drop-in of the unit (systemctl edit)")
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
        "cannot take \(quoted(text)) as the name of a unit",
        remedy: #"write the name that systemctl shows, as in "mbsync.service""#)
    }
    guard let point = text.lastIndex(of: "."), Self.suffixes.contains(text[point...]) else {
      throw Unreadable(
        "cannot tell what kind of unit \(quoted(text)) is", remedy: "write \(quoted("\(text).service"))")
    }
    guard text[point...] == ".service" else {
      let service = quoted("\(text[..<point]).service")
      throw Unreadable(
        "cannot wait for the end of \(quoted(text)): only a service does work and ends",
        remedy: text[point...] == ".timer" ? "write the unit that it starts, such as \(service)" : "write a .service")
    }
    guard text[..<point].last != "@" else {
      throw Unreadable(
        "cannot start the template \(quoted(text)) itself",
        remedy: "write an instance, such as \(quoted("\(text[..<point])work.service"))")
    }
    guard !text.hasPrefix("refreshd") else {
      throw Unreadable("cannot have refreshd start \(quoted(text)), a unit of its own", remedy: "write another unit")
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
        "cannot guard \(quoted(text)): only a service is stopped and started again", remedy: "write a .service")
    }
    return try ServiceUnit(checking: text).name
  }
}

extension UInt8 {
  /// Whether the byte may be in the name of a unit (systemd.unit(5), "Description").
  fileprivate var isOfUnitName: Bool { isLetterOrDigit || ":-_.\\@".utf8.contains(self) }
}
