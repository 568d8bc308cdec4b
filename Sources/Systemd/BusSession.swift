import CSystemd
import Glibc

/// A connection to a message bus with blocking calls, for use before a loop turns.
///
/// All calls together wait no longer than the given time. Thread-confined.
public final class BusSession {
  private let connection: OpaquePointer
  private let end: Int64

  /// Connects to a bus; all waiting ends `microseconds` from now.
  ///
  /// Throws when there is no bus, or when it refuses the connection.
  public init(
    _ address: BusAddress, patience microseconds: Int64 = Bus.patience, takesDescriptors: Bool = false
  ) throws(SystemdError) {
    var bus: OpaquePointer?
    try check(sd_bus_new(&bus), cannot: "make a bus connection")
    guard let bus else { throw SystemdError(cannot: "make a bus connection", code: ENOMEM) }
    connection = bus
    end = EventLoop.bootMicroseconds() + microseconds
    try check(sd_bus_set_address(bus, address.text), cannot: "use the bus address \(address.text)")
    try check(sd_bus_set_bus_client(bus, 1), cannot: "set up a bus connection")
    try check(sd_bus_negotiate_fds(bus, takesDescriptors ? 1 : 0), cannot: "set up a bus connection")
    try check(sd_bus_start(bus), cannot: "connect to the \(address.name)")
    // Without this, sd_bus_call(3) would wait without a limit for a bus that accepts no connection.
    while try check(sd_bus_is_ready(bus), cannot: "connect to the \(address.name)") == 0 {
      guard left > 0 else { throw SystemdError(cannot: "connect to the \(address.name)", code: ETIMEDOUT) }
      if try check(sd_bus_process(bus, nil), cannot: "connect to the \(address.name)") == 0 {
        try check(sd_bus_wait(bus, left), cannot: "connect to the \(address.name)")
      }
    }
  }

  private var left: UInt64 { UInt64(max(0, end - EventLoop.bootMicroseconds())) }

  deinit { sd_bus_close_unref(connection) }

  /// Calls a method and waits for the reply; never starts the service.
  public func call(_ method: BusMethod) throws(BusError) -> [BusValue] {
    let message: BusMessage
    do throws(SystemdError) { message = try BusMessage(calling: method, on: connection) } catch {
      throw BusError(error)
    }
    defer { message.release() }
    var error = sd_bus_error()
    defer { sd_bus_error_free(&error) }
    var reply: OpaquePointer?
    // 0 would mean the default of 25 s.
    let result = sd_bus_call(connection, message.message, max(1, left), &error, &reply)
    defer { sd_bus_message_unref(reply) }
    guard result >= 0, let reply else { throw BusError(error) }
    do throws(SystemdError) { return try BusMessage(reply).values() } catch { throw BusError(error) }
  }
}
