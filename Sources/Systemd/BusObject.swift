import Glibc

/// The properties of one interface of an object on the bus, kept up to date.
///
/// Asked for when the object is made, when the service comes, and when it says that a value has changed without saying
/// to what. Whoever cannot wait is told after ``Bus/patience`` that there is no answer yet; a late one is taken all the
/// same. Thread-confined, as its loop is.
public final class BusObject: BusSubscription {
  /// What is known of the object.
  public enum State: Hashable, Sendable {
    /// It was asked, and has ``Bus/patience`` to answer.
    case asked
    /// It is there, with those of the wanted properties that it has.
    case known([String: BusValue])
    /// Nobody has the name, and never had while we looked.
    case absent
    /// It was there or should be, and this is why it does not count: words such as "UPower left the bus".
    case silent(String)
  }

  /// How long an answer may come late and still count, in microseconds: sd-bus(3)'s own limit for a call.
  static let longestWait: Int64 = 25_000_000

  let rank = 1
  /// What is known now.
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

  /// Begins to keep the properties in `wanted`; nothing is reported before the loop has turned.
  ///
  /// `name` is what a person calls the service. Throws when the loop has no room for a timer.
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

  /// Asks for the properties, again if need be.
  public func ask() {
    patience?.arm(at: EventLoop.bootMicroseconds() + Bus.patience, accuracy: 1)
    question = bus.call(.getAll(of: interface, at: path, in: service), timeout: Self.longestWait) { [unowned self] in
      take($0)
    }
  }

  /// Asks a service that has come; what it said before counts no more.
  private func begin() {
    set(.asked)
    ask()
  }

  func busChanged() {
    switch bus.state {
    case .connected: begin()
    case .connecting: break
    case .absent(let reason): settle(.silent(reason))
    }
  }

  private func take(_ answer: BusCall.Answer) {
    switch answer {
    case .success(let values):
      hasBeenKnown = true
      settle(.known((values.first?.entries ?? [:]).filter { wanted.contains($0.key) }))
    case .failure(let error) where error.isNobodyThere: settle(leaving)
    // The service, the connection, or the last bit of patience has gone: each says so itself.
    case .failure(let error) where error.name == "org.freedesktop.DBus.Error.NoReply": question = nil
    case .failure(let error): settle(.silent("\(name) answers with an error: \(error)"))
    }
  }

  private func ownerChanged(_ values: [BusValue]) {
    guard values.count == 3, let owner = values[2].text else { return }
    if owner.isEmpty { settle(leaving) } else { begin() }
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

  private func settle(_ state: State) {
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
