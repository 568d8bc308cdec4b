import CSystemd

/// The connection that owns a well-known name of the bus, kept up to date; it shows whose signals count.
///
/// A match rule holds only for signals to everybody. A signal to one connection is delivered whatever its rules say, and
/// sd-bus(3) then takes any sender for the well-known name of a rule. So every local user could speak for every service.
/// The bus itself writes the sender of each message, and that cannot be forged. Thread-confined, as its loop is.
final class BusNameOwner: BusSubscription {
  /// The name of the bus itself, which is also its sender.
  static let bus = "org.freedesktop.DBus"

  /// After the rule for changes, so that none is missed, and before the rules for the signals of the owner: the bus
  /// answers in this order, so that the owner is known before its first signal.
  let rank = 1
  /// The unique name of the owner, such as `:1.42`; nil if there is none, or while it is not known.
  private(set) var sender: String?

  private let bus: Bus
  private let name: String
  private var listener: BusListener?
  private var question: BusCall?

  init(of name: String, on bus: Bus) {
    (self.name, self.bus) = (name, bus)
    listener = bus.listen(to: .ownerChanged(of: name)) { [unowned self] values in
      guard values.count == 3, let owner = values[2].text else { return }
      (sender, question) = (owner.isEmpty ? nil : owner, nil)
    }
    bus.add(self)
  }

  deinit {
    bus.remove(self)
    bus.removeOwner(of: name)
  }

  func busChanged() {
    (sender, question) = (nil, nil)
    guard bus.state == .connected else { return }
    let method = BusMethod(
      Self.bus, path: "/org/freedesktop/DBus", interface: Self.bus, name: "GetNameOwner", arguments: [.string(name)])
    question = bus.call(method, timeout: bus.longestForOwner) { [unowned self] answer in
      switch answer {
      case .success(let values): sender = values.first?.text
      case .failure(let error) where error.isNobodyThere: sender = nil
      // Without the owner, no signal would count.
      case .failure(let error): bus.end("the \(bus.address.name) does not say who is \(name): \(error)")
      }
    }
  }
}
