import CSystemd
import Glibc

/// The events of a descriptor.
public struct IOEvents: OptionSet, Hashable, Sendable {
  /// The bits of epoll(7).
  public let rawValue: UInt32

  /// Makes a set from the bits of epoll(7).
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// There is data to read, or the end of it.
  public static let readable = IOEvents(rawValue: EPOLLIN.rawValue)
  /// There is room to write.
  public static let writable = IOEvents(rawValue: EPOLLOUT.rawValue)
  /// The other end has closed both directions; always reported.
  public static let hangup = IOEvents(rawValue: EPOLLHUP.rawValue)
  /// The descriptor has an error, or the reading end of a pipe is gone; always reported.
  public static let error = IOEvents(rawValue: EPOLLERR.rawValue)
}

/// A watch on a descriptor.
///
/// The watch is level-triggered: the handler is called in every turn until the data is read or ``events`` no longer asks
/// for it. ``IOEvents/hangup`` and ``IOEvents/error`` cannot be switched off. A handler that gets one of them, and does
/// not read on, should cancel the watch. Thread-confined, as its loop is.
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

  /// The events that the handler is called for, in addition to ``IOEvents/hangup`` and ``IOEvents/error``.
  ///
  /// An empty set pauses the watch.
  public var events: IOEvents {
    didSet {
      guard !isCancelled, events != oldValue else { return }
      descriptors.change(descriptor, to: events, token: token)
    }
  }

  /// Ends the watch; call this before you close the descriptor.
  ///
  /// The handler is not called again, even if it cancels its own watch. The caller still owns the descriptor.
  public func cancel() {
    guard !isCancelled else { return }
    isCancelled = true
    descriptors.remove(descriptor, token: token)
  }
}

extension EventLoop {
  /// Calls `handler` whenever `descriptor` is ready for one of `events`, until the source is cancelled or released.
  ///
  /// Throws `EPERM` for a descriptor that cannot be watched, such as a regular file. Throws `EEXIST` for a descriptor
  /// that is watched already; one watch serves both directions.
  public func watch(
    _ descriptor: Int32, for events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemdError) -> IOSource {
    try IOSource(in: descriptors, descriptor: descriptor, events: events, handler: handler)
  }
}
