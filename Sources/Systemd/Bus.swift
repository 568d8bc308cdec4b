import CSystemd
import Glibc

/// A connection to a message bus: sd-bus(3) on the event loop, which comes back by itself.
///
/// Nothing here waits: a bus that is not there is ``State/absent(_:)``, its socket is watched for (inotify(7)) and costs
/// nothing until it appears. A connection that is lost is made again, the first time after ``firstDelay``, then after
/// twice as long each time. What is subscribed to is subscribed to again on the new connection.
///
/// Thread-confined, as its loop is.
public final class Bus {
  /// How the connection is.
  public enum State: Hashable, Sendable {
    /// There is none, and why, in words that follow a colon or stand alone.
    case absent(String)
    /// It is being made.
    case connecting
    /// It is there.
    case connected
  }

  /// How long an answer may take until whoever asked goes on without it, in microseconds (FEATURES D1).
  public static let patience: Int64 = 2_000_000
  /// How long after a loss the first try is, in microseconds: about what dbus-daemon(1) takes to restart.
  static let firstDelay: Int64 = 250_000
  /// How far apart tries are at most, in microseconds.
  static let lastDelay: Int64 = 64_000_000

  /// Where the bus is.
  public let address: BusAddress
  /// How the connection is now.
  public private(set) var state: State

  let loop: EventLoop
  private(set) var connection: OpaquePointer?
  private var connectionSlot: OpaquePointer?
  private var subscriptions: [ObjectIdentifier: () -> (any BusSubscription)?] = [:]
  private var retry: TimerSource?
  private var delay = firstDelay
  private var connectedAt: Int64?

  /// Connects to the bus at `address`.
  ///
  /// Throws when the loop has no room for a timer; a bus that is not there is no error.
  public init(_ address: BusAddress, on loop: EventLoop) throws(SystemdError) {
    self.address = address
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
      // The socket's appearance is awaited, and is then a connection like any other.
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
      sd_bus_set_close_on_exit(bus, 0),
    ] {
      try check(result, cannot: "set up a bus connection")
    }
    try watchConnection()
    try check(sd_bus_start(bus), cannot: "connect to the \(address.name)")
    try check(sd_bus_attach_event(bus, loop.event, Int32(SD_EVENT_PRIORITY_NORMAL)), cannot: "watch the bus")
  }

  /// Hears of what happens to the connection itself: signals that sd-bus(3) makes, and no bus sends.
  private func watchConnection() throws(SystemdError) {
    let local = "org.freedesktop.DBus.Local"
    let callback: sd_bus_message_handler_t = { message, context, _ in
      guard let context else { return 0 }
      let bus = Unmanaged<Bus>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(bus) {
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

  /// Takes note of a connection that is gone; the next one is made from the timer, outside of sd-bus(3)'s own calls.
  private func lose(_ reason: String) {
    let now = EventLoop.bootMicroseconds()
    // One that lasted was a good one, so the next loss is another story.
    if let connectedAt, now - connectedAt > delay { delay = Self.firstDelay }
    connectedAt = nil
    retry?.arm(at: now + delay, accuracy: delay / 4)
    delay = min(delay * 2, Self.lastDelay)
    change(to: .absent(reason))
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

  /// Tells `subscription` of every change of ``state`` for as long as it lives, and of the present one at once.
  func add(_ subscription: any BusSubscription) {
    subscriptions[ObjectIdentifier(subscription)] = { [weak subscription] in subscription }
    subscription.busChanged()
  }

  /// Forgets a subscription that ends.
  func remove(_ subscription: any BusSubscription) {
    subscriptions[ObjectIdentifier(subscription)] = nil
  }
}

/// What has to be told when the bus comes and goes.
protocol BusSubscription: AnyObject {
  /// In which order: what listens comes before what asks, so that no change falls between.
  var rank: Int { get }
  /// The bus is in another state.
  func busChanged()
}
