import CSystemd
import Glibc

/// Which signals of the bus are meant (D-Bus specification, "Match Rules"); nil matches any.
public struct BusSignal: Hashable, Sendable {
  /// The name of who sends it.
  public var sender: String
  /// The object that it comes from.
  public var path: String
  /// Whether objects below the path count as well.
  public var isBelow = false
  /// The interface that has the signal.
  public var interface: String
  /// The signal's name.
  public var name: String
  /// The first string in it; nil for any.
  public var firstArgument: String?

  /// Makes a rule of its parts.
  public init(_ sender: String, path: String, interface: String, name: String, firstArgument: String? = nil) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.name = name
    self.firstArgument = firstArgument
  }

  /// A name on the bus has another owner: the service was started, or is gone.
  public static func ownerChanged(of service: String) -> BusSignal {
    BusSignal(
      "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
      name: "NameOwnerChanged", firstArgument: service)
  }

  /// Properties of one interface of an object have changed.
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

/// A subscription to signals of the bus, renewed with every connection, until it is released.
///
/// Thread-confined, as its loop is.
public final class BusListener: BusSubscription {
  let rank = 0
  private let bus: Bus
  private let rule: String
  private let handler: (String, [BusValue]) -> Void
  private var slot: OpaquePointer?

  fileprivate init(to signal: BusSignal, on bus: Bus, handler: @escaping (String, [BusValue]) -> Void) {
    self.bus = bus
    rule = signal.rule
    self.handler = handler
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
      let listener = Unmanaged<BusListener>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(listener) { listener.take(message) }
      return 0
    }
    // A rule that the bus refuses ends the connection, in sd-bus(3) itself: a bus that does not say what happens is as
    // good as none, and is tried again later.
    sd_bus_add_match_async(bus.connection, &slot, rule, callback, nil, Unmanaged.passUnretained(self).toOpaque())
  }

  private func take(_ message: OpaquePointer) {
    // What cannot be read is of a type that no subscriber waits for.
    guard let values = try? BusMessage(message).values() else { return }
    handler(sd_bus_message_get_path(message).map { String(cString: $0) } ?? "", values)
  }
}

extension Bus {
  /// Calls `handler` with what each such signal holds, until what this returns is released.
  public func listen(to signal: BusSignal, handler: @escaping ([BusValue]) -> Void) -> BusListener {
    BusListener(to: signal, on: self) { handler($1) }
  }

  /// Calls `handler` with the object and what each such signal of it holds, until what this returns is released.
  public func listen(toObjectsOf signal: BusSignal, handler: @escaping (String, [BusValue]) -> Void) -> BusListener {
    BusListener(to: signal, on: self, handler: handler)
  }
}
