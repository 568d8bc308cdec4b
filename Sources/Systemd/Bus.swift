import CSystemd
import Glibc

/// A connection to a message bus: sd-bus(3) on the event loop, with automatic reconnection.
///
/// No call blocks. If there is no bus, the state is ``State/absent(_:)``, and inotify(7) watches for its socket at no
/// cost. A lost connection is made again, first after ``firstDelay`` and then after twice as long each time. Every new
/// connection renews the subscriptions.
///
/// Thread-confined, as its loop is.
public final class Bus {
  /// The state of the connection.
  public enum State: Hashable, Sendable {
    /// There is no connection; the reason follows a colon or stands alone.
    case absent(String)
    /// The connection is being made.
    case connecting
    /// The connection is there.
    case connected
  }

  /// How long a caller waits for an answer before it goes on without it, in microseconds.
  public static let patience: Int64 = 2_000_000
  /// The delay before the first retry after a loss, in microseconds: about the time that dbus-daemon(1) takes to
  /// restart.
  static let firstDelay: Int64 = 250_000
  /// The longest delay between retries, in microseconds.
  static let lastDelay: Int64 = 64_000_000

  /// The address of the bus.
  public let address: BusAddress
  /// The current state of the connection.
  public private(set) var state: State

  /// The loop of the connection.
  public let loop: EventLoop
  /// The longest wait for the owner of a name, in microseconds; after that the bus is connected again.
  var longestForOwner = BusObject.longestWait
  private let takesDescriptors: Bool
  private(set) var connection: OpaquePointer?
  private var connectionSlot: OpaquePointer?
  private var subscriptions: [ObjectIdentifier: () -> (any BusSubscription)?] = [:]
  private var owners: [String: () -> BusNameOwner?] = [:]
  private var retry: TimerSource?
  private var delay = firstDelay
  private var connectedAt: Int64?

  /// Connects to the bus at `address`.
  ///
  /// Throws when the loop has no room for a timer; a missing bus is not an error.
  ///
  /// `takesDescriptors` allows messages to pass descriptors. The close of one may hang, so never take any from a bus of
  /// several users; ``DescriptorCalls`` does.
  public init(_ address: BusAddress, on loop: EventLoop, takesDescriptors: Bool = false) throws(SystemdError) {
    self.address = address
    self.takesDescriptors = takesDescriptors
    self.loop = loop
    state = .connecting
    retry = try loop.timer { [unowned self] in connect() }
    connect()
  }

  deinit {
    retry?.cancel()
    disconnect()
  }

  // MARK: Connection

  private func connect() {
    disconnect()
    do throws(SystemdError) {
      try start()
      // sd-bus(3) waits for a missing socket and then connects as usual.
      change(to: address.isVacant ? .absent("there is no \(address.name)") : .connecting)
    } catch {
      lose(error.description)
    }
  }

  private func start() throws(SystemdError) {
    var bus: OpaquePointer?
    try check(sd_bus_new(&bus), cannot: "make a bus connection")
    guard let bus else { throw SystemdError(cannot: "make a bus connection", code: ENOMEM) }
    connection = bus
    try check(sd_bus_set_address(bus, address.text), cannot: "use the bus address \(address.text)")
    for result in [
      sd_bus_set_bus_client(bus, 1), sd_bus_set_watch_bind(bus, 1), sd_bus_set_connected_signal(bus, 1),
      sd_bus_set_close_on_exit(bus, 0), sd_bus_negotiate_fds(bus, takesDescriptors ? 1 : 0),
    ] {
      try check(result, cannot: "set up a bus connection")
    }
    try watchConnection()
    try check(sd_bus_start(bus), cannot: "connect to the \(address.name)")
    try check(sd_bus_attach_event(bus, loop.event, Int32(SD_EVENT_PRIORITY_NORMAL)), cannot: "watch the bus")
  }

  /// Watches for the signals that sd-bus(3) itself makes for the connection.
  private func watchConnection() throws(SystemdError) {
    let callback: sd_bus_message_handler_t = { message, context, _ in
      guard let context else { return 0 }
      let bus = Unmanaged<Bus>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(bus) {
        // A match rule does not stop forged signals (``BusNameOwner``).
        guard let message, BusMessage(message).sender == local else { return }
        if sd_bus_message_is_signal(message, nil, "Connected") > 0 {
          bus.connected()
        } else {
          bus.lose("the \(bus.address.name) is gone")
        }
      }
      return 0
    }
    try check(
      sd_bus_match_signal(
        connection, &connectionSlot, local, "/org/freedesktop/DBus/Local", local, nil, callback,
        Unmanaged.passUnretained(self).toOpaque()),
      cannot: "watch the bus connection")
  }

  private func connected() {
    connectedAt = EventLoop.bootMicroseconds()
    change(to: .connected)
  }

  /// Records a lost connection.
  ///
  /// A timer makes the next one, because sd-bus(3) may be the caller here.
  private func lose(_ reason: String) {
    let now = EventLoop.bootMicroseconds()
    // A connection that lasted resets the delay.
    if let connectedAt, now - connectedAt > delay { delay = Self.firstDelay }
    connectedAt = nil
    retry?.arm(at: now + delay, accuracy: delay / 4)
    delay = min(delay * 2, Self.lastDelay)
    change(to: .absent(reason))
  }

  /// Gives up a connection on which the bus does not answer.
  func end(_ reason: String) {
    // A closing connection reports its end itself.
    if sd_bus_is_open(connection) > 0 { lose(reason) }
  }

  private func disconnect() {
    sd_bus_slot_unref(connectionSlot)
    connectionSlot = nil
    sd_bus_close_unref(connection)
    connection = nil
  }

  // MARK: Subscriptions

  private func change(to state: State) {
    self.state = state
    for subscription in subscriptions.values.compactMap({ $0() }).sorted(by: { $0.rank < $1.rank }) {
      subscription.busChanged()
    }
  }

  /// Calls `subscription` for the current ``state`` now, and for every change while it exists.
  func add(_ subscription: any BusSubscription) {
    subscriptions[ObjectIdentifier(subscription)] = { [weak subscription] in subscription }
    subscription.busChanged()
  }

  /// Removes a subscription that ends.
  func remove(_ subscription: any BusSubscription) {
    subscriptions[ObjectIdentifier(subscription)] = nil
  }

  /// The owner of a well-known name, which all listeners to it share.
  func owner(of name: String) -> BusNameOwner {
    if let known = owners[name]?() { return known }
    let owner = BusNameOwner(of: name, on: self)
    owners[name] = { [weak owner] in owner }
    return owner
  }

  /// Forgets an owner without listeners.
  func removeOwner(of name: String) { owners[name] = nil }
}

/// The sender of the signals that sd-bus(3) itself makes.
private let local = "org.freedesktop.DBus.Local"

/// A subscriber to the state of the bus.
protocol BusSubscription: AnyObject {
  /// The order of the calls: listeners come before callers, so that no change is missed.
  var rank: Int { get }
  /// Called when the bus has another state.
  func busChanged()
}

/// Watches the state of a connection until it is released.
///
/// It is called after the listeners, so that a call on a new connection misses no signal. Thread-confined, as its loop
/// is.
public final class BusWatch: BusSubscription {
  let rank = 4
  private let bus: Bus
  private let handler: (Bus.State) -> Void

  fileprivate init(_ bus: Bus, handler: @escaping (Bus.State) -> Void) {
    self.bus = bus
    self.handler = handler
    bus.add(self)
  }

  deinit { bus.remove(self) }

  func busChanged() { handler(bus.state) }
}

extension Bus {
  /// Calls `handler` with the state of the connection now and after every change, until the returned object is
  /// released.
  public func watch(handler: @escaping (State) -> Void) -> BusWatch { BusWatch(self, handler: handler) }
}

/// The address of a message bus (D-Bus specification, "Server Addresses").
public struct BusAddress: Hashable, Sendable {
  /// The address, such as `unix:path=/run/dbus/system_bus_socket`.
  public let text: String
  /// The name of the bus for people: `system bus`.
  public let name: String

  /// Makes an address.
  public init(_ text: String, name: String) {
    self.text = text
    self.name = name
  }

  /// The bus of the machine: `DBUS_SYSTEM_BUS_ADDRESS`, else the address in the specification.
  public static var system: BusAddress {
    BusAddress(variable("DBUS_SYSTEM_BUS_ADDRESS") ?? "unix:path=/run/dbus/system_bus_socket", name: "system bus")
  }

  /// The bus of the user: `DBUS_SESSION_BUS_ADDRESS`, else the address that systemd uses.
  public static var user: BusAddress {
    let runtime = variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
    return BusAddress(variable("DBUS_SESSION_BUS_ADDRESS") ?? "unix:path=\(runtime)/bus", name: "user bus")
  }

  /// Whether no socket exists at the address; false for an address that is not a path.
  fileprivate var isVacant: Bool {
    guard text.hasPrefix("unix:path=") else { return false }
    let path = text.dropFirst("unix:path=".count).prefix { $0 != "," && $0 != ";" }
    return access(String(path), F_OK) != 0
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}
