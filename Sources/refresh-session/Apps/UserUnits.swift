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
