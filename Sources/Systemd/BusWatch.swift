/// Hears of what becomes of a connection, until it is released.
///
/// After those who listen, so that no signal falls between: what is asked for on a new connection is news since then.
/// Thread-confined, as its loop is.
public final class BusWatch: BusSubscription {
  let rank = 2
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
  /// Calls `handler` with the state of the connection, now and after every change, until what this returns is released.
  public func watch(handler: @escaping (State) -> Void) -> BusWatch { BusWatch(self, handler: handler) }
}
