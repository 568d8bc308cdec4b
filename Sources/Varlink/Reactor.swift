/// The events of a descriptor that is watched or ready.
///
/// Raw values are those of epoll_ctl(2).
public struct Readiness: OptionSet, Sendable {
  /// The bits, as epoll has them.
  public let rawValue: UInt32

  /// Makes a set from epoll's bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The descriptor has data, or is at its end (`EPOLLIN`).
  public static let readable = Readiness(rawValue: 0x001)
  /// The descriptor accepts data (`EPOLLOUT`).
  public static let writable = Readiness(rawValue: 0x004)
  /// The descriptor has an error (`EPOLLERR`); always reported.
  public static let error = Readiness(rawValue: 0x008)
  /// Both directions are closed (`EPOLLHUP`); always reported.
  public static let hangup = Readiness(rawValue: 0x010)
}

/// The event loop that drives a server; the server starts no thread and sets no timer.
///
/// The loop is level-triggered, as poll(2) and, by default, epoll(7) and sd-event are. All calls happen on the server's
/// thread.
public protocol Reactor: AnyObject {
  /// Calls `handler` in each turn of the loop in which the descriptor is ready, until the watch is cancelled.
  ///
  /// The caller still owns the descriptor. The loop reports hang-up and error even for an empty set.
  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch
}

/// A watched descriptor.
public protocol Watch: AnyObject {
  /// The watched events.
  var events: Readiness { get set }
  /// Ends the watch; the handler is not called again and is released.
  func cancel()
}
