import CSystemd
import Glibc

/// Receives messages of the bus until this object is released; every new connection renews the subscription.
///
/// Thread-confined, as its loop is.
public final class BusListener: BusSubscription {
  /// Makes sd-bus(3) call a handler with the messages of a connection, as long as the slot lives.
  typealias Attachment = (
    _ connection: OpaquePointer?, _ slot: inout OpaquePointer?, _ handler: @escaping sd_bus_message_handler_t,
    _ context: UnsafeMutableRawPointer
  ) -> Void

  /// The bus's own signals come first, because ``BusNameOwner`` relies on them.
  var rank: Int { owner == nil ? 0 : 2 }
  private let bus: Bus
  /// The service whose signals count; nil for messages of the bus itself, or of everybody.
  private let owner: BusNameOwner?
  private let attach: Attachment
  /// Handles a message; returns the result for sd-bus(3).
  private let receive: (OpaquePointer) -> Int32
  private var slot: OpaquePointer?

  init(
    on bus: Bus, from owner: BusNameOwner? = nil, attach: @escaping Attachment,
    receive: @escaping (OpaquePointer) -> Int32
  ) {
    (self.bus, self.owner, self.attach, self.receive) = (bus, owner, attach, receive)
    bus.add(self)
  }

  deinit {
    bus.remove(self)
    sd_bus_slot_unref(slot)
  }

  func busChanged() {
    slot = sd_bus_slot_unref(slot)
    guard bus.state == .connected else { return }
    let handler: sd_bus_message_handler_t = { message, context, _ in
      guard let context, let message else { return 0 }
      let listener = Unmanaged<BusListener>.fromOpaque(context).takeUnretainedValue()
      return withExtendedLifetime(listener) { listener.receive(message) }
    }
    attach(bus.connection, &slot, handler, Unmanaged.passUnretained(self).toOpaque())
  }
}

/// A match rule for signals of the bus (D-Bus specification, "Match Rules").
public struct BusSignal: Hashable, Sendable {
  /// The bus name of the sender.
  public var sender: String
  /// The path of the object that sends the signal.
  public var path: String
  /// Whether the rule includes objects below the path.
  public var isBelow = false
  /// The interface of the signal.
  public var interface: String
  /// The name of the signal.
  public var name: String
  /// The first string argument; nil for any.
  public var firstArgument: String?

  /// Makes a rule from its parts.
  public init(_ sender: String, path: String, interface: String, name: String, firstArgument: String? = nil) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.name = name
    self.firstArgument = firstArgument
  }

  /// A name on the bus has another owner: the service has started or gone.
  public static func ownerChanged(of service: String) -> BusSignal {
    BusSignal(
      "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
      name: "NameOwnerChanged", firstArgument: service)
  }

  /// Properties of an interface of an object have changed.
  public static func propertiesChanged(of interface: String, at path: String, in service: String) -> BusSignal {
    BusSignal(
      service, path: path, interface: "org.freedesktop.DBus.Properties", name: "PropertiesChanged",
      firstArgument: interface)
  }

  /// Properties of any interface of any object below a path have changed.
  public static func propertiesChanged(below path: String, in service: String) -> BusSignal {
    var signal = BusSignal(
      service, path: path, interface: "org.freedesktop.DBus.Properties", name: "PropertiesChanged")
    signal.isBelow = true
    return signal
  }

  var rule: String {
    let key = isBelow ? "path_namespace" : "path"
    let start = "type='signal',sender='\(sender)',\(key)='\(path)',interface='\(interface)',member='\(name)'"
    return firstArgument.map { "\(start),arg0='\($0)'" } ?? start
  }
}

extension Bus {
  /// Calls `handler` with the arguments of each matching signal, until the returned object is released.
  public func listen(to signal: BusSignal, handler: @escaping ([BusValue]) -> Void) -> BusListener {
    listen(toObjectsOf: signal) { handler($1) }
  }

  /// Calls `handler` with the object path and the arguments of each matching signal, until the returned object is
  /// released.
  ///
  /// A signal matches only if the current owner of the sender's name has sent it.
  public func listen(toObjectsOf signal: BusSignal, handler: @escaping (String, [BusValue]) -> Void) -> BusListener {
    let owner = signal.sender == BusNameOwner.bus ? nil : owner(of: signal.sender)
    return BusListener(on: self, from: owner) { connection, slot, callback, context in
      // If the bus refuses the rule, sd-bus(3) ends the connection, and the bus is tried again later. A bus that sends
      // no signals is useless here.
      sd_bus_add_match_async(connection, &slot, signal.rule, callback, nil, context)
    } receive: { message in
      let sender = if let owner { owner.sender } else { signal.sender }
      guard let sender, BusMessage(message).sender == sender else { return 0 }
      // Every type of D-Bus can be read except a descriptor that cannot be copied, and this connection takes none
      // (``Bus/init(_:on:takesDescriptors:)``). So nothing is dropped here that a log could name.
      guard let values = try? BusMessage(message).values() else { return 0 }
      handler(sd_bus_message_get_path(message).map { String(cString: $0) } ?? "", values)
      return 0
    }
  }
}

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

/// The connection that owns a well-known name of the bus, kept up to date; it shows whose signals count.
///
/// A match rule filters only broadcast signals. A signal to one connection is always delivered, and sd-bus(3) accepts any
/// sender for the well-known name of a rule. So every local user could send signals in the name of any service. The bus
/// itself sets the sender of each message, which cannot be forged. Thread-confined, as its loop is.
final class BusNameOwner: BusSubscription {
  /// The name of the bus itself, which is also its sender.
  static let bus = "org.freedesktop.DBus"

  /// After the rule for changes, so that none is missed, and before the rules for the signals of the owner: the bus
  /// answers in this order, so that the owner is known before its first signal.
  let rank = 1
  /// The unique name of the owner, such as `:1.42`; nil if the name has no owner, or while the owner is unknown.
  private(set) var sender: String?

  private let bus: Bus
  private let name: String
  private var listener: BusListener?
  private var question: BusCall?

  init(of name: String, on bus: Bus) {
    (self.name, self.bus) = (name, bus)
    listener = bus.listen(to: .ownerChanged(of: name)) { [unowned self] values in
      guard values.count == 3, let owner = values[2].text else { return }
      (sender, question) = (owner.isEmpty ? nil : owner, nil)
    }
    bus.add(self)
  }

  deinit {
    bus.remove(self)
    bus.removeOwner(of: name)
  }

  func busChanged() {
    (sender, question) = (nil, nil)
    guard bus.state == .connected else { return }
    let method = BusMethod(
      Self.bus, path: "/org/freedesktop/DBus", interface: Self.bus, name: "GetNameOwner", arguments: [.string(name)])
    question = bus.call(method, timeout: bus.longestForOwner) { [unowned self] answer in
      switch answer {
      case .success(let values): sender = values.first?.text
      case .failure(let error) where error.isNobodyThere: sender = nil
      // Without the owner, no signal would count.
      case .failure(let error): bus.end("the \(bus.address.name) does not say who is \(name): \(error)")
      }
    }
  }
}
