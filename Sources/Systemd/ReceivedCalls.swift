import CSystemd
import Glibc

extension Bus {
  /// Handles a call with the unique name of the caller and the arguments; returns whether it accepts the call.
  public typealias CallHandler = (_ sender: String, _ values: [BusValue]) -> Bool

  /// Calls `handler` with each call of a method of this process's object, until the returned object is released.
  ///
  /// Other programs reach the object by ``uniqueName``. The reply to a call of another method is UnknownMethod.
  public func receive(
    path: String, interface: String, name: String, handler: @escaping CallHandler
  ) -> BusListener {
    BusListener(on: self) { connection, slot, callback, context in
      // Without the object, the reply to a call is UnknownObject; nothing else depends on it.
      sd_bus_add_object(connection, &slot, path, callback, context)
    } receive: { message in
      // 0 means that the call is for another object; a number above 0 means that it was answered.
      guard sd_bus_message_is_method_call(message, interface, name) > 0 else { return 0 }
      let sender = BusMessage(message).sender ?? ""
      // Arguments that cannot be read or have another type are refused; the caller gets the error.
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

  /// The name under which others on the bus reach this connection, such as `:1.42`; nil without a connection.
  public var uniqueName: String? {
    var name: UnsafePointer<CChar>?
    guard state == .connected, sd_bus_get_unique_name(connection, &name) >= 0 else { return nil }
    return name.map { String(cString: $0) }
  }
}
