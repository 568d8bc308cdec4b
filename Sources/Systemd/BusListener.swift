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
