import CSystemd
import Glibc

extension Bus {
  /// Takes the unique name of the caller and the arguments of a call; the result says whether the call was taken.
  public typealias CallHandler = (_ sender: String, _ values: [BusValue]) -> Bool

  /// Calls `handler` with each call of a method of an object of ours, until the returned object is released.
  ///
  /// Other programs reach the object by ``uniqueName``. A call of another method is answered with UnknownMethod.
  public func receive(
    path: String, interface: String, name: String, handler: @escaping CallHandler
  ) -> BusListener {
    BusListener(on: self) { connection, slot, callback, context in
      // Without the object, calls are answered with UnknownObject; nothing else depends on it.
      sd_bus_add_object(connection, &slot, path, callback, context)
    } receive: { message in
      // 0 is for a call that is not ours, above 0 for one that was answered.
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

  /// The name under which others on the bus reach this connection, such as `:1.42`; nil without a connection.
  public var uniqueName: String? {
    var name: UnsafePointer<CChar>?
    guard state == .connected, sd_bus_get_unique_name(connection, &name) >= 0 else { return nil }
    return name.map { String(cString: $0) }
  }
}
