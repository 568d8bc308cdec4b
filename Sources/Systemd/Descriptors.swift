import CSystemd
import Glibc

/// The descriptors that a loop watches: one epoll(7) set, of which sd-event sees only the set itself.
///
/// sd-event(3) asks the kernel for all that is ready before each single call of a handler, so that a thousand tasks that
/// end together would cost a million looks: 51 µs a handler, measured, where this takes 1 µs. A turn of the loop takes
/// what is ready in one look, calls at most ``eventsPerTurn`` handlers, and then lets timers, signals and actors have
/// theirs.
final class Descriptors {
  /// How many handlers are called in one turn; the kernel goes on with the others in the next.
  static let eventsPerTurn = 64

  /// The set itself, which is readable while any descriptor in it is ready.
  let set: Int32
  /// Set when the loop ends: no handler is called from then on.
  var isEnding = false

  private var handlers: [UInt64: (IOEvents) -> Void] = [:]
  private var lastToken: UInt64 = 0
  private let ready: UnsafeMutableBufferPointer<epoll_event>

  init() throws(SystemdError) {
    set = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard set >= 0 else { throw SystemdError(cannot: "make an epoll set", code: errno) }
    ready = .allocate(capacity: Self.eventsPerTurn)
  }

  deinit {
    ready.deallocate()
    close(set)
  }

  /// Takes `descriptor` in and gives the token of this watch, which no later watch ever has.
  ///
  /// An event of a watch that ended in the same turn finds no handler under its token, also when the descriptor's
  /// number is already in use again.
  func add(
    _ descriptor: Int32, for events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemdError) -> UInt64 {
    let token = lastToken + 1
    guard control(EPOLL_CTL_ADD, descriptor, events, token) == 0 else {
      throw SystemdError(cannot: "watch descriptor \(descriptor)", code: errno)
    }
    lastToken = token
    handlers[token] = handler
    return token
  }

  /// Watches for other events; the descriptor must still be open.
  func change(_ descriptor: Int32, to events: IOEvents, token: UInt64) {
    let result = control(EPOLL_CTL_MOD, descriptor, events, token)
    precondition(result == 0, "descriptor \(descriptor) was closed before its watch was cancelled")
  }

  /// Lets `descriptor` go.
  func remove(_ descriptor: Int32, token: UInt64) {
    guard handlers.removeValue(forKey: token) != nil else { return }
    // EBADF: it was closed a moment too early, and the kernel has let it go already.
    _ = control(EPOLL_CTL_DEL, descriptor, [], token)
  }

  /// Calls the handlers of what is ready, without waiting.
  func dispatch() {
    let count = epoll_wait(set, ready.baseAddress, Int32(ready.count), 0)
    for index in 0..<max(0, Int(count)) where !isEnding {
      let event = ready[index]
      handlers[event.data.u64]?(IOEvents(rawValue: event.events))
    }
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ events: IOEvents, _ token: UInt64) -> Int32 {
    var event = epoll_event(events: events.rawValue, data: epoll_data_t(u64: token))
    return epoll_ctl(set, operation, descriptor, &event)
  }
}
