import CSystemd
import Glibc

/// What a descriptor is ready for.
public struct IOEvents: OptionSet, Hashable, Sendable {
  /// The bits of epoll(7).
  public let rawValue: UInt32

  /// Makes a set of the bits of epoll(7).
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is something to read, or the end of it.
  public static let readable = IOEvents(rawValue: EPOLLIN.rawValue)
  /// There is room to write.
  public static let writable = IOEvents(rawValue: EPOLLOUT.rawValue)
  /// The other end is gone in both directions; always reported, asked for or not.
  public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue)
  /// The descriptor has an error, or the reading end of a pipe is gone; always reported.
  public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// A watch on one descriptor.
///
/// Level-triggered: the handler is called every turn until what is there was read or ``events`` no longer asks. As
/// ``IOEvents/hangup`` and ``IOEvents/error`` cannot be switched off, a handler that gets one and sees no use in
/// reading on cancels the watch. Thread-confined, as its loop is.
public final class IOSource {
  private let descriptors: Descriptors
  private let descriptor: Int32
  private let token: UInt64
  private var isCancelled = false

  init(
    in descriptors: Descriptors, descriptor: Int32, events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemdError) {
    self.descriptors = descriptors
    self.descriptor = descriptor
    self.events = events
    token = try descriptors.add(descriptor, for: events, handler: handler)
  }

  deinit { cancel() }

  /// What the handler is called for, beside ``IOEvents/hangup`` and ``IOEvents/error``.
  ///
  /// An empty set keeps the watch and asks for nothing, which is how a reader says "not now".
  public var events: IOEvents {
    didSet {
      guard !isCancelled, events != oldValue else { return }
      descriptors.change(descriptor, to: events, token: token)
    }
  }

  /// Ends the watch; to be called before the descriptor is closed.
  ///
  /// The handler is not called again, also when it is the one that cancels. The descriptor stays the caller's.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    descriptors.remove(descriptor, token: token)
  }
}

extension EventLoop {
  /// Calls `handler` whenever `descriptor` is ready for one of `events`, until the source is cancelled or released.
  ///
  /// Throws `EPERM` for what cannot be waited for, as a regular file, and `EEXIST` for a descriptor that is watched
  /// already: one watch serves both directions.
  public func watch(
    _ descriptor: Int32, for events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemdError) -> IOSource {
    try IOSource(in: descriptors, descriptor: descriptor, events: events, handler: handler)
  }
}
