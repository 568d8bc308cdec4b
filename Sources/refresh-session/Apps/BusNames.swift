import RefreshAPI
import Systemd

/// The owned bus names that equal desktop ids: apps that the bus has started have such names.
final class BusNames {
  /// The most followed names; each is a match rule of the bus.
  private static let most = 256

  private let bus: Bus
  private let changed: () -> Void
  private var listeners: [String: BusListener] = [:]
  private var questions: [String: BusCall] = [:]
  private var watch: BusWatch?
  /// The names that have an owner.
  private(set) var owned: Set<String> = []

  init(_ bus: Bus, changed: @escaping () -> Void) {
    (self.bus, self.changed) = (bus, changed)
    watch = bus.watch { [unowned self] state in
      if state == .connected {
        for name in listeners.keys.sorted() { ask(name) }
      } else {
        questions = [:]
        replace(by: [])
      }
    }
  }

  /// Follows the desktop ids that are valid bus names; replaces the earlier ids.
  func follow(_ ids: Set<String>) {
    let names = Set(ids.filter(\.isBusName).sorted().prefix(Self.most))
    for name in Set(listeners.keys).subtracting(names) {
      listeners[name] = nil
      questions[name] = nil
    }
    replace(by: owned.intersection(names))
    for name in names.sorted() where listeners[name] == nil {
      listeners[name] = bus.listen(to: .ownerChanged(of: name)) { [unowned self] values in
        guard values.count == 3, let owner = values[2].text else { return }
        set(name, isOwned: !owner.isEmpty)
      }
      if bus.state == .connected { ask(name) }
    }
  }

  private func ask(_ name: String) {
    let method = BusMethod(
      "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", name: "NameHasOwner",
      arguments: [.string(name)])
    questions[name] = bus.call(method) { [unowned self] answer in
      questions[name] = nil
      if case .success(let values) = answer { set(name, isOwned: values.first?.boolean == true) }
    }
  }

  private func set(_ name: String, isOwned: Bool) {
    var owned = owned
    if isOwned { owned.insert(name) } else { owned.remove(name) }
    replace(by: owned)
  }

  private func replace(by owned: Set<String>) {
    guard owned != self.owned else { return }
    self.owned = owned
    changed()
  }
}
