import Glibc
import Varlink

/// The smallest event loop that a server can be driven by: poll(2), one turn at a time.
final class PollReactor: Reactor {
  private var watches: [Int32: PollWatch] = [:]

  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch {
    let watch = PollWatch(events, handler: handler) { [weak self] in self?.watches[descriptor] = nil }
    watches[descriptor] = watch
    return watch
  }

  /// Handles once what is ready; false when nothing is.
  func turn() -> Bool {
    // poll(2) and epoll(7) have the same bits.
    var set = watches.sorted { $0.key < $1.key }.map { descriptor, watch in
      pollfd(fd: descriptor, events: Int16(truncatingIfNeeded: watch.events.rawValue), revents: 0)
    }
    guard poll(&set, nfds_t(set.count), 0) > 0 else { return false }
    let ready = set.filter { $0.revents != 0 }.map { ($0, watches[$0.fd]) }
    for (entry, watch) in ready {
      watch?.handle(Readiness(rawValue: UInt32(UInt16(bitPattern: entry.revents))))
    }
    return true
  }
}

/// A watched descriptor; the handler of a watch that was cancelled in the same turn is not called.
private final class PollWatch: Watch {
  var events: Readiness
  private var handler: ((Readiness) -> Void)?
  private let forget: () -> Void

  init(_ events: Readiness, handler: @escaping (Readiness) -> Void, forget: @escaping () -> Void) {
    self.events = events
    self.handler = handler
    self.forget = forget
  }

  func handle(_ readiness: Readiness) { handler?(readiness) }

  func cancel() {
    handler = nil
    forget()
  }
}
