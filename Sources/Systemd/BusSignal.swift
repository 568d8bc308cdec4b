import CSystemd
import Glibc

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
