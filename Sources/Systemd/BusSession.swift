import CSystemd
import Glibc
import Synchronization
import Threads

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

/// Makes calls that pass descriptors, each on a thread and a connection of its own.
///
/// Every program may send descriptors to a connection that accepts them, and the last close of one may hang
/// (``LastClose``). So a ``Bus`` accepts none, and the connection of a call lives only until the answer. Thread-confined,
/// as its loop is.
public final class DescriptorCalls {
  private let address: BusAddress
  private let answers: ForeignAnswers
  private var arrival: IOSource?
  private var handlers: [Int: (BusCall.Answer) -> Void] = [:]
  private var count = 0

  /// Makes the calls on the bus at `address`.
  ///
  /// Throws when the loop has no room for an event.
  public init(_ address: BusAddress, on loop: EventLoop) throws(SystemdError) {
    self.address = address
    answers = try ForeignAnswers()
    arrival = try loop.watch(answers.descriptor, for: .readable) { [unowned self] _ in deliver() }
  }

  deinit { arrival?.cancel() }

  /// Calls a method and passes the reply to `handler` in a later turn of the loop; never starts the service.
  ///
  /// The descriptors among the arguments must stay open until then. A call without a reply within `timeout` microseconds
  /// fails.
  public func call(_ method: BusMethod, timeout: Int64, handler: @escaping (BusCall.Answer) -> Void) {
    count += 1
    handlers[count] = handler
    let number = count
    let code = DetachedThread.begin { [address, answers] in
      do throws(SystemdError) {
        let session = Unmanaged.passRetained(try BusSession(address, patience: timeout, takesDescriptors: true))
        answers.add(number, Result { () throws(BusError) in try session.takeUnretainedValue().call(method) })
        LastClose.whileHeld { session.release() }
      } catch {
        answers.add(number, .failure(BusError(error)))
      }
    }
    if code != 0 { answers.add(number, .failure(BusError(SystemdError(cannot: "make a thread", code: code)))) }
  }

  private func deliver() {
    for (number, answer) in answers.drain() { handlers.removeValue(forKey: number)?(answer) }
  }
}

/// The answers that threads have for the loop.
private final class ForeignAnswers: Sendable {
  /// Readable while there are some.
  let descriptor: Int32
  private let waiting = Mutex<[(Int, BusCall.Answer)]>([])

  init() throws(SystemdError) {
    descriptor = systemd_eventfd()
    guard descriptor >= 0 else { throw SystemdError(cannot: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  func add(_ number: Int, _ answer: BusCall.Answer) {
    waiting.withLock { $0.append((number, answer)) }
    eventfd_write(descriptor, 1)
  }

  func drain() -> [(Int, BusCall.Answer)] {
    var count: eventfd_t = 0
    _ = eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
