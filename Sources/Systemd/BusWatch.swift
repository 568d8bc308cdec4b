/// Watches the state of a connection until it is released.
///
/// It is called after the listeners, so that a call on a new connection misses no signal. Thread-confined, as its loop
/// is.
public final class BusWatch: BusSubscription {
  let rank = 4
  private let bus: Bus
  private let handler: (Bus.State) -> Void

  fileprivate init(_ bus: Bus, handler: @escaping (Bus.State) -> Void) {
    self.bus = bus
    self.handler = handler
    bus.add(self)
  }

  deinit { bus.remove(self) }

  func busChanged() { handler(bus.state) }
}

extension Bus {
  /// Calls `handler` with the state of the connection now and after every change, until the returned object is
  /// released.
  public func watch(handler: @escaping (State) -> Void) -> BusWatch { BusWatch(self, handler: handler) }
}
