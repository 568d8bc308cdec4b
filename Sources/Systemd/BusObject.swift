import Glibc

/// The properties of an interface of an object on the bus, kept up to date.
///
/// They are read at the start, when the service appears, and when the service reports a change without the new value.
/// After ``Bus/patience`` without a reply the state is silent, but a late reply still counts. Thread-confined, as its
/// loop is.
public final class BusObject: BusSubscription {
  /// The known state of the object.
  public enum State: Hashable, Sendable {
    /// The properties were requested, and ``Bus/patience`` has not passed.
    case asked
    /// The object exists and has these of the wanted properties.
    case known([String: BusValue])
    /// The name has no owner and has had none so far.
    case absent
    /// The object has gone or does not answer; the reason is, for example, "UPower left the bus".
    case silent(String)
  }

  /// How long a late reply still counts, in microseconds: the default timeout of sd-bus(3).
  static let longestWait: Int64 = 25_000_000

  let rank = 3
  /// The current state.
  public private(set) var state = State.asked
  /// Called after every change of ``state``.
  public var onChange: () -> Void = {}

  private let bus: Bus
  private let service: String
  private let name: String
  private let path: String
  private let interface: String
  private let wanted: Set<String>
  private var listeners: [BusListener] = []
  private var question: BusCall?
  private var patience: TimerSource?
  private var hasBeenKnown = false

  /// Starts to follow the properties in `wanted`; reports nothing before the loop has turned.
  ///
  /// `name` is the service's name for people. Throws when the loop has no room for a timer.
  public init(
    _ service: String, called name: String, path: String, interface: String, wanted: Set<String>, on bus: Bus
  ) throws(SystemdError) {
    self.bus = bus
    self.name = name
    self.service = service
    self.path = path
    self.interface = interface
    self.wanted = wanted
    patience = try bus.loop.timer { [unowned self] in set(.silent("\(self.name) does not answer")) }
    patience?.arm(at: EventLoop.bootMicroseconds() + Bus.patience, accuracy: 1)
    listeners = [
      bus.listen(to: .ownerChanged(of: service)) { [unowned self] in ownerChanged($0) },
      bus.listen(to: .propertiesChanged(of: interface, at: path, in: service)) { [unowned self] in changed($0) },
    ]
    bus.add(self)
  }

  deinit {
    patience?.cancel()
    bus.remove(self)
  }

  /// Reads the properties, for the first time or again.
  public func ask() {
    patience?.arm(at: EventLoop.bootMicroseconds() + Bus.patience, accuracy: 1)
    question = bus.call(.getAll(of: interface, at: path, in: service), timeout: Self.longestWait) { [unowned self] in
      apply($0)
    }
  }

  /// Reads the properties of a service that has appeared; earlier values no longer count.
  private func begin() {
    set(.asked)
    ask()
  }

  func busChanged() {
    switch bus.state {
    case .connected: begin()
    case .connecting: break
    case .absent(let reason): conclude(.silent(reason))
    }
  }

  private func apply(_ answer: BusCall.Answer) {
    switch answer {
    case .success(let values):
      hasBeenKnown = true
      conclude(.known((values.first?.entries ?? [:]).filter { wanted.contains($0.key) }))
    case .failure(let error) where error.isNobodyThere: conclude(leaving)
    // The service or the connection has gone, or the timeout has passed; each of them sets the state itself.
    case .failure(let error) where error.name == "org.freedesktop.DBus.Error.NoReply": question = nil
    case .failure(let error): conclude(.silent("\(name) answers with an error: \(error)"))
    }
  }

  private func ownerChanged(_ values: [BusValue]) {
    guard values.count == 3, let owner = values[2].text else { return }
    if owner.isEmpty { conclude(leaving) } else { begin() }
  }

  private func changed(_ values: [BusValue]) {
    guard values.count == 3, let news = values[1].entries else { return }
    guard case .known(let properties) = state else {
      if question == nil { ask() }
      return
    }
    set(.known(properties.merging(news.filter { wanted.contains($0.key) }) { $1 }))
    let stale = (values[2].elements ?? []).contains { $0.text.map(wanted.contains) ?? false }
    if stale { ask() }
  }

  private var leaving: State { hasBeenKnown ? .silent("\(name) left the bus") : .absent }

  private func conclude(_ state: State) {
    question = nil
    patience?.disarm()
    set(state)
  }

  private func set(_ state: State) {
    guard state != self.state else { return }
    self.state = state
    onChange()
  }
}

/// The end of the main process of a service.
public enum MainEnd: Hashable, Sendable {
  /// The process exited with a code.
  case exited(Int32)
  /// A signal ended the process.
  case signalled(Int32)

  /// Reads the end from the properties of the service (org.freedesktop.systemd1(5)); nil if they have none.
  public init?(_ properties: [String: BusValue]) {
    let status = Int32(truncatingIfNeeded: properties["ExecMainStatus"]?.integer ?? 0)
    // The si_code of waitid(2).
    switch properties["ExecMainCode"]?.integer {
    case 1: self = .exited(status)
    case 2, 3: self = .signalled(status)
    default: return nil
    }
  }
}
