import Systemd

/// Follows a unit at its service manager: looks it up on each connection, and references it, so that the manager sends its
/// changes.
///
/// At most one call to the manager is open; a new call drops the answer to the previous one.
final class FollowedUnit {
  /// The timeout of a call to the manager, in microseconds: the default of sd-bus(3).
  static let patience: Int64 = 25_000_000

  let name: String
  let isOfMachine: Bool
  let bus: Bus
  private(set) var facts = UnitFacts()
  /// The path of the unit itself, after the manager has sent it.
  private var path = UnitCalls.unitPath
  private var question: BusCall?
  private var restarts: BusListener?
  private var changes: BusListener?
  private var watch: BusWatch?
  /// Called when a manager is present, before the lookup of the unit; set once.
  var onConnected: () -> Void = {}
  /// Called after the lookup of the unit; set once.
  var onFound: () -> Void = {}
  /// Called when the unit has changed; set once.
  var onChanged: () -> Void = {}
  /// Called when no manager answers: before the first connection, after a loss, and after a failed lookup; set once.
  var onLost: () -> Void = {}

  init(_ name: String, isOfMachine: Bool, on loop: EventLoop) throws(SystemdError) {
    (self.name, self.isOfMachine) = (name, isOfMachine)
    bus = try Bus(isOfMachine ? .system : .user, on: loop)
  }

  /// Starts to follow the unit.
  func follow() {
    restarts = bus.listen(to: .ownerChanged(of: UnitCalls.service)) { [unowned self] values in
      // A manager that has re-executed itself does not report the changes since.
      if values.count == 3, values[2].text?.isEmpty == false { connected() } else { onLost() }
    }
    watch = bus.watch { [unowned self] state in if state == .connected { connected() } else { onLost() } }
  }

  /// Calls the manager.
  func ask(_ method: BusMethod, then answer: @escaping (BusCall.Answer) -> Void) {
    question = bus.call(method, timeout: Self.patience, handler: answer)
  }

  /// Drops the answer to the open call.
  func dropQuestion() { question = nil }

  /// Reads all properties of the unit.
  func look(then next: @escaping () -> Void, failed: @escaping (BusError) -> Void) {
    ask(UnitCalls.properties(path)) { [unowned self] answer in
      switch answer {
      case .success(let values):
        facts.apply(values.first?.entries ?? [:])
        next()
      case .failure(let error) where error.isNobodyThere || bus.state != .connected: onLost()
      case .failure(let error): failed(error)
      }
    }
  }

  private func connected() {
    onConnected()
    question = bus.load(name, timeout: Self.patience) { [unowned self] found in
      guard let found else { return onLost() }
      path = found
      changes = bus.listen(to: .propertiesChanged(below: path, in: UnitCalls.service)) { [unowned self] in
        changed($0)
      }
      // The reference keeps the unit in memory and makes the manager send its changes.
      bus.send(UnitCalls.reference(path))
      onFound()
    }
  }

  private func changed(_ values: [BusValue]) {
    guard values.count == 3, let news = values[1].entries else { return }
    facts.apply(news)
    // systemd sends the properties of the service first and those of the unit last, so now all have arrived.
    if values[0].text == UnitCalls.unit { onChanged() }
  }
}
