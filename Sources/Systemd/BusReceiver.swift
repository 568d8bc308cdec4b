import CSystemd
import Glibc

/// Takes the calls of one method of an object of ours, on every connection to the bus until this object is released.
///
/// Other programs reach the object by ``Bus/uniqueName``. A call of another method is answered with UnknownMethod.
/// Thread-confined, as its loop is.
public final class BusReceiver: BusSubscription {
  /// Takes the unique name of the caller and the arguments; the result says whether the call was taken.
  public typealias Handler = (_ sender: String, _ values: [BusValue]) -> Bool

  let rank = 0
  private let bus: Bus
  private let (path, interface, name): (String, String, String)
  private let handler: Handler
  private var slot: OpaquePointer?

  fileprivate init(_ bus: Bus, path: String, interface: String, name: String, handler: @escaping Handler) {
    (self.bus, self.path, self.interface, self.name, self.handler) = (bus, path, interface, name, handler)
    bus.add(self)
  }

  deinit {
    bus.remove(self)
    sd_bus_slot_unref(slot)
  }

  func busChanged() {
    slot = sd_bus_slot_unref(slot)
    guard bus.state == .connected else { return }
    let callback: sd_bus_message_handler_t = { message, context, _ in
      guard let context, let message else { return 0 }
      let receiver = Unmanaged<BusReceiver>.fromOpaque(context).takeUnretainedValue()
      return withExtendedLifetime(receiver) { receiver.receive(message) }
    }
    // Without the object, calls are answered with UnknownObject; nothing else depends on it.
    sd_bus_add_object(bus.connection, &slot, path, callback, Unmanaged.passUnretained(self).toOpaque())
  }

  /// The result for sd-bus(3): 0 for a call that is not ours, above 0 for one that was answered.
  private func receive(_ message: OpaquePointer) -> Int32 {
    guard sd_bus_message_is_method_call(message, interface, name) > 0 else { return 0 }
    let sender = sd_bus_message_get_sender(message).map { String(cString: $0) } ?? ""
    // Arguments of a type that nobody sends here are not taken.
    guard let values = try? BusMessage(message).values(), handler(sender, values) else {
      return sd_bus_reply_method_errno(message, EACCES, nil)
    }
    guard sd_bus_message_get_expect_reply(message) > 0 else { return 1 }
    var reply: OpaquePointer?
    defer { sd_bus_message_unref(reply) }
    guard sd_bus_message_new_method_return(message, &reply) >= 0 else { return -ENOMEM }
    return sd_bus_send(nil, reply, nil)
  }
}

extension Bus {
  /// Calls `handler` with each call of a method of an object of ours, until the returned object is released.
  public func receive(
    path: String, interface: String, name: String, handler: @escaping BusReceiver.Handler
  ) -> BusReceiver {
    BusReceiver(self, path: path, interface: interface, name: name, handler: handler)
  }

  /// The name under which others on the bus reach this connection, such as `:1.42`; nil without a connection.
  public var uniqueName: String? {
    var name: UnsafePointer<CChar>?
    guard state == .connected, sd_bus_get_unique_name(connection, &name) >= 0 else { return nil }
    return name.map { String(cString: $0) }
  }
}
