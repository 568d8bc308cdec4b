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

/// A watch for the exceptional condition of a descriptor (`POLLPRI`, poll(2)), such as a pressure trigger.
///
/// An ``IOSource`` does not work for this, because it is in a second epoll(7) set. A check of a pressure trigger clears
/// it, so the nested set would lose most events. Thread-confined, as its loop is.
public final class UrgentSource {
  private var source: OpaquePointer?
  private let handler: () -> Void

  init(of descriptor: Int32, on event: OpaquePointer, handler: @escaping () -> Void) throws(SystemdError) {
    self.handler = handler
    let callback: sd_event_io_handler_t = { _, _, events, context in
      guard let context else { return 0 }
      let source = Unmanaged<UrgentSource>.fromOpaque(context).takeUnretainedValue()
      withExtendedLifetime(source) { source.receive(events) }
      return 0
    }
    try check(
      sd_event_add_io(
        event, &source, descriptor, EPOLLPRI.rawValue, callback, Unmanaged.passUnretained(self).toOpaque()),
      cannot: "watch descriptor \(descriptor)")
  }

  deinit { cancel() }

  /// Ends the watch; call this before you close the descriptor.
  public func cancel() {
    source = sd_event_source_disable_unref(source)
  }

  private func receive(_ events: UInt32) {
    // An error lasts, and would be reported in every turn.
    guard events & EPOLLPRI.rawValue != 0 else { return cancel() }
    handler()
  }
}

extension EventLoop {
  /// Calls `handler` whenever `descriptor` has an exceptional condition, until the returned object is cancelled.
  public func watchUrgent(_ descriptor: Int32, handler: @escaping () -> Void) throws(SystemdError) -> UrgentSource {
    try UrgentSource(of: descriptor, on: event, handler: handler)
  }
}
