import Glibc
import Systemd

/// The units of the user's manager that were started for apps.
///
/// Each connection to a manager subscribes before it lists the running units, so that no change is missed. A unit counts by
/// its state: UnitNew also arrives when a unit is only loaded, and a failed unit is never removed.
final class UserUnits {
  /// The most units that are kept.
  private static let most = 4096
  static let manager = "org.freedesktop.systemd1"
  static let path = "/org/freedesktop/systemd1"
  static let interface = "org.freedesktop.systemd1.Manager"

  private struct Unit {
    let desktopID: String
    var isActive: Bool
  }

  private let bus: Bus
  private let changed: () -> Void
  private var units: [String: Unit] = [:]
  /// Other running units, each with the call for its names, because an alias may name an app.
  private var others: [String: BusCall?] = [:]
  private var listeners: [BusListener] = []
  private var watch: BusWatch?
  private var subscribing: BusCall?
  private var listing: BusCall?
  /// Whether the running units are known, or no manager can be asked.
  private(set) var isSettled = false

  /// Follows the units; calls `changed` when other units run.
  init(_ bus: Bus, changed: @escaping () -> Void) {
    (self.bus, self.changed) = (bus, changed)
    func signal(_ name: String) -> BusSignal {
      BusSignal(Self.manager, path: Self.path, interface: Self.interface, name: name)
    }
    listeners = [
      // The manager appears after the bus, and appears again when it re-executes itself.
      bus.listen(to: .ownerChanged(of: Self.manager)) { [unowned self] values in
        ask(isThere: values.count == 3 && values[2].text?.isEmpty == false)
      },
      bus.listen(to: signal("UnitNew")) { [unowned self] in unitIsNew($0) },
      bus.listen(to: signal("UnitRemoved")) { [unowned self] in unitIsRemoved($0) },
      bus.listen(toObjectsOf: .propertiesChanged(below: "\(Self.path)/unit", in: Self.manager)) { [unowned self] in
        propertiesChanged(at: $0, $1)
      },
    ]
    watch = bus.watch { [unowned self] in busChanged($0) }
  }

  /// The desktop ids of the apps with a running unit.
  var running: Set<String> { Set(units.values.lazy.filter(\.isActive).map(\.desktopID)) }

  private func busChanged(_ state: Bus.State) {
    if state == .connecting { isSettled = false } else { ask(isThere: state == .connected) }
  }

  /// Asks the manager for the running units, or forgets them if there is no manager.
  private func ask(isThere: Bool) {
    guard isThere else {
      isSettled = true
      replace(by: [:])
      return
    }
    // Without this call the manager sends no signals.
    subscribing = bus.call(BusMethod(Self.manager, path: Self.path, interface: Self.interface, name: "Subscribe")) {
      _ in
    }
    let list = BusMethod(
      Self.manager, path: Self.path, interface: Self.interface, name: "ListUnitsByPatterns",
      arguments: [.strings([]), .strings(DesktopUnit.patterns)])
    listing = bus.call(list) { [unowned self] in listed($0) }
  }

  private func listed(_ answer: BusCall.Answer) {
    isSettled = true
    guard case .success(let values) = answer, let rows = values.first?.elements else { return changed() }
    var found: [String: Unit] = [:]
    var running: [String] = []
    for row in rows.prefix(Self.most) {
      // name, description, load state, active state, sub state, followed unit, path, …
      guard let fields = row.elements, fields.count > 6, let name = fields[0].text, let state = fields[3].text,
        let path = fields[6].text
      else { continue }
      guard let id = DesktopUnit.desktopID(of: name) else {
        if Self.isActive(state) { running.append(path) }
        continue
      }
      found[path] = Unit(desktopID: id, isActive: Self.isActive(state))
    }
    replace(by: found)
    others = [:]
    for path in running { askForNames(at: path) }
  }

  private func unitIsNew(_ values: [BusValue]) {
    guard values.count == 2, let name = values[0].text, let path = values[1].text, units.count < Self.most,
      units[path] == nil, let id = DesktopUnit.desktopID(of: name)
    else { return }
    units[path] = Unit(desktopID: id, isActive: false)
  }

  private func unitIsRemoved(_ values: [BusValue]) {
    guard values.count == 2, let path = values[1].text else { return }
    others[path] = nil
    guard let unit = units.removeValue(forKey: path) else { return }
    if unit.isActive { changed() }
  }

  private func propertiesChanged(at path: String, _ values: [BusValue]) {
    guard values.count > 1, let state = values[1].entries?["ActiveState"]?.text else { return }
    let isActive = Self.isActive(state)
    guard var unit = units[path] else {
      if isActive { askForNames(at: path) } else { stopAsking(at: path) }
      return
    }
    guard isActive != unit.isActive else { return }
    unit.isActive = isActive
    units[path] = unit
    changed()
  }

  /// Asks for all names of a running unit, because an alias may name an app.
  ///
  /// A unit that does not run is not asked, because the manager would load it for the call and report it as new.
  private func askForNames(at path: String) {
    guard others[path] == nil, others.count < Self.most else { return }
    others[path] = .some(nil)
    others[path] = bus.call(.get("Names", of: "org.freedesktop.systemd1.Unit", at: path, in: Self.manager)) {
      [unowned self] answer in
      others[path] = .some(nil)
      guard case .success(let values) = answer, let names = values.first?.elements, units[path] == nil,
        units.count < Self.most, let id = names.lazy.compactMap({ $0.text.flatMap(DesktopUnit.desktopID) }).first
      else { return }
      units[path] = Unit(desktopID: id, isActive: true)
      changed()
    }
  }

  /// Drops the call about a unit that has ended, because its answer would count the unit as running.
  private func stopAsking(at path: String) {
    if case .some(.some) = others[path] { others[path] = nil }
  }

  private func replace(by found: [String: Unit]) {
    let before = running
    units = found
    if running != before || isSettled { changed() }
  }

  private static func isActive(_ state: String) -> Bool { state != "inactive" && state != "failed" }
}

/// Reads and writes the names of units that the user's manager started for apps.
///
/// systemd's page "Desktop Environment Integration" defines `app[-LAUNCHER]-ID-RANDOM.scope` and
/// `app[-LAUNCHER]-ID[@RANDOM].service`, with `-` in the id as `\x2d`. Snaps and apps that the bus starts have other forms.
enum DesktopUnit {
  /// The name patterns of all units that may belong to an app, for systemd; an alias may match too.
  static let patterns = ["*.scope", "*.service"]

  /// The desktop id of the app; nil for any other unit.
  static func desktopID(of unit: String) -> String? {
    let id: Substring?
    if let name = unit.between("snap.", ".scope") {
      // snap.NAME.APP-UUID; the desktop id is NAME_APP.
      let parts = name.split(separator: ".", maxSplits: 1)
      let app = parts.count == 2 ? parts[1].prefix { $0 != "-" } : ""
      id = app.isEmpty ? nil : Substring("\(parts[0])_\(app)")
    } else if let name = unit.between("dbus-:", ".service") {
      id = name.upTo("@").afterFirst("-")
    } else if let name = unit.between("app-", ".service") {
      id = name.upTo("@").afterLast("-")
    } else if let name = unit.between("app-", ".scope"), let random = name.lastIndex(of: "-") {
      id = name[..<random].afterLast("-")
    } else {
      id = nil
    }
    guard let id, let text = unescaped(id) else { return nil }
    let plain = text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    return plain.isEmpty ? nil : plain
  }

  /// A desktop id in the form of a unit's name.
  static func escaped(_ id: String) -> String {
    id.utf8.map { byte in
      let isPlain =
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: ":"):
          true
        default: false
        }
      return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// The text with each `\xNN` replaced by its byte; nil if the result is not UTF-8.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let code = rest.prefix(3)
      guard byte == UInt8(ascii: "\\"), code.count == 3, code.first == UInt8(ascii: "x"),
        let number = UInt8(String(decoding: code.dropFirst(), as: UTF8.self), radix: 16)
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(number)
      rest = rest.dropFirst(3)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// The part between a beginning and an end; nil if the text lacks one of them.
  fileprivate func between(_ start: String, _ end: String) -> Substring? {
    guard hasPrefix(start), hasSuffix(end), count >= start.count + end.count else { return nil }
    return dropFirst(start.count).dropLast(end.count)
  }

  fileprivate func upTo(_ mark: Character) -> Substring { prefix { $0 != mark } }

  /// The part after the first mark; nil without a mark.
  fileprivate func afterFirst(_ mark: Character) -> Substring? {
    firstIndex(of: mark).map { self[index(after: $0)...] }
  }

  /// The part after the last mark, or all of it.
  fileprivate func afterLast(_ mark: Character) -> Substring {
    lastIndex(of: mark).map { self[index(after: $0)...] } ?? self[...]
  }
}

/// Finds the app of a process by its unit.
///
/// It is the last resort for a window that has only the name of a toolkit, such as `python3`.
enum ProcessUnit {
  /// The desktop id in the unit's name; nil if the process is gone, is another user's, or is in no unit of an app.
  static func desktopID(of process: Int) -> String? {
    guard process > 0 else { return nil }
    return desktopID(inGroups: DesktopEntry.text(of: "/proc/\(process)/cgroup"))
  }

  /// The desktop id in the text of `/proc/PID/cgroup` (cgroups(7)); the innermost unit of an app counts.
  static func desktopID(inGroups text: String) -> String? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
    return line.dropFirst(3).split(separator: "/").reversed().lazy.compactMap { DesktopUnit.desktopID(of: String($0)) }
      .first
  }
}
