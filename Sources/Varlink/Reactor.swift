/// The events that a descriptor is ready for, or is watched for.
///
/// Raw values are those of epoll_ctl(2).
public struct Readiness: OptionSet, Sendable {
  /// The bits, as epoll has them.
  public let rawValue: UInt32

  /// A set of epoll's bits.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// There is something to read, or the end of it (`EPOLLIN`).
  public static let readable = Readiness(rawValue: 0x001)
  /// There is room to write (`EPOLLOUT`).
  public static let writable = Readiness(rawValue: 0x004)
  /// The descriptor has an error (`EPOLLERR`); reported without being asked for.
  public static let error = Readiness(rawValue: 0x008)
  /// Both directions are shut (`EPOLLHUP`); reported without being asked for.
  public static let hangup = Readiness(rawValue: 0x010)
}

/// The event loop that a server is driven by; the server starts no thread and sets no timer.
///
/// Level-triggered, as poll(2) and the default of epoll(7) and sd-event are. Everything happens on one thread, the one
/// that the server is used on.
public protocol Reactor: AnyObject {
  /// Calls `handler` in each turn of the loop in which the descriptor is ready, until the watch is cancelled.
  ///
  /// The descriptor stays the caller's. Hang-up and error are reported even for an empty set.
  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch
}

/// A watched descriptor.
public protocol Watch: AnyObject {
  /// The events that the descriptor is watched for, from now on.
  var events: Readiness { get set }
  /// Ends the watch; the handler is not called again and is released.
  func cancel()
}
