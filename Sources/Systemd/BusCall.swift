import CSystemd
import Glibc

/// A method of an object on the bus, with its arguments.
public struct BusMethod: Hashable, Sendable {
  /// The service's name on the bus, such as `org.freedesktop.login1`.
  public var service: String
  /// The path of the object.
  public var path: String
  /// The interface of the method.
  public var interface: String
  /// The name of the method.
  public var name: String
  /// The arguments.
  public var arguments: [BusArgument]
  /// Whether the bus starts the service if it does not run.
  ///
  /// A question must not change the state of the machine, so this is false unless the call is made for its effect.
  public var startsService: Bool

  /// Makes a method from its parts.
  public init(
    _ service: String, path: String, interface: String, name: String, arguments: [BusArgument] = [],
    startsService: Bool = false
  ) {
    self.service = service
    self.path = path
    self.interface = interface
    self.name = name
    self.arguments = arguments
    self.startsService = startsService
  }

  /// Reads a property (D-Bus specification, `org.freedesktop.DBus.Properties`).
  public static func get(_ property: String, of interface: String, at path: String, in service: String) -> BusMethod {
    BusMethod(
      service, path: path, interface: "org.freedesktop.DBus.Properties", name: "Get",
      arguments: [.string(interface), .string(property)])
  }

  /// Reads all properties of an interface.
  public static func getAll(of interface: String, at path: String, in service: String) -> BusMethod {
    BusMethod(
      service, path: path, interface: "org.freedesktop.DBus.Properties", name: "GetAll",
      arguments: [.string(interface)])
  }
}

/// A call on the bus that is in flight; releasing it cancels it.
///
/// Thread-confined, as its loop is.
public final class BusCall {
  /// The result of a call.
  public typealias Answer = Result<[BusValue], BusError>

  private var slot: OpaquePointer?
  private let handler: (Answer) -> Void

  fileprivate init(handler: @escaping (Answer) -> Void) { self.handler = handler }

  deinit { cancel() }

  /// Cancels the call; the handler is not called after that.
  public func cancel() {
    slot = sd_bus_slot_unref(slot)
  }

  fileprivate func send(
    _ method: BusMethod, on connection: OpaquePointer?, timeout: Int64
  ) throws(SystemdError) {
    let message = try BusMessage(calling: method, on: connection)
    defer { message.release() }
    let callback: sd_bus_message_handler_t = { reply, context, _ in
      guard let context, let reply else { return 0 }
      let call = Unmanaged<BusCall>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(call) { call.handler(BusCall.answer(in: reply)) }
      return 0
    }
    let result = sd_bus_call_async(
      connection, &slot, message.message, callback, Unmanaged.passUnretained(self).toOpaque(), UInt64(timeout))
    try check(result, cannot: "call \(method.name) of \(method.service)")
  }

  private static func answer(in reply: OpaquePointer) -> Answer {
    if let error = sd_bus_message_get_error(reply)?.pointee { return .failure(BusError(error)) }
    return Result { () throws(SystemdError) in try BusMessage(reply).values() }.mapError { BusError($0) }
  }

  fileprivate func fail(_ error: SystemdError) { handler(.failure(BusError(error))) }
}

extension Bus {
  /// Calls a method and passes the reply to `handler`; never starts the service.
  ///
  /// The call is cancelled when the returned object is released. Without a reply within `timeout` microseconds, the
  /// result is `org.freedesktop.DBus.Error.NoReply` or a similar error. A call that cannot be sent, for example without
  /// a connection, fails before this returns.
  public func call(
    _ method: BusMethod, timeout: Int64 = patience, handler: @escaping (BusCall.Answer) -> Void
  ) -> BusCall {
    let call = BusCall(handler: handler)
    do throws(SystemdError) {
      guard state == .connected else { throw SystemdError(cannot: "call \(method.name)", code: ENOTCONN) }
      try call.send(method, on: connection, timeout: timeout)
    } catch {
      call.fail(error)
    }
    return call
  }

  /// Calls a method without a reply.
  ///
  /// It is sent after all earlier messages of this connection. Without a connection, nothing is sent.
  public func send(_ method: BusMethod) {
    guard state == .connected else { return }
    do throws(SystemdError) {
      let message = try BusMessage(calling: method, on: connection)
      defer { message.release() }
      try check(sd_bus_message_set_expect_reply(message.message, 0), cannot: "call \(method.name)")
      try check(sd_bus_send(connection, message.message, nil), cannot: "call \(method.name)")
    } catch {
      // The connection has just gone; the loop will report it.
      return
    }
  }
}

/// The error of a failed call on the bus.
public struct BusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The D-Bus name of the error, such as `org.freedesktop.DBus.Error.ServiceUnknown`.
  public var name: String
  /// The message of the service, a sentence.
  public var message: String

  /// Makes an error from its parts.
  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  init(_ error: sd_bus_error) {
    self.init(
      name: error.name.map { String(cString: $0) } ?? "", message: error.message.map { String(cString: $0) } ?? "")
  }

  init(_ error: SystemdError) {
    self.init(name: "System.Error", message: error.description)
  }

  /// Whether the called name has no owner.
  ///
  /// Calls that may start the service fail with the first name, calls that may not with the second.
  public var isNobodyThere: Bool {
    name == "org.freedesktop.DBus.Error.ServiceUnknown" || name == "org.freedesktop.DBus.Error.NameHasNoOwner"
  }

  /// Whether there was no reply, so that the call may or may not have taken effect.
  public var isWithoutAnswer: Bool {
    ["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout", "System.Error"].contains(name)
  }

  /// The message of the service, or else the name of the error.
  public var description: String { message.isEmpty ? name : message }
}
