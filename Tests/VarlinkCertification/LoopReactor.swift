import Systemd
import Varlink

/// The event loop as a server sees it.
final class LoopReactor: Reactor {
  private let loop: EventLoop

  init(_ loop: EventLoop) { self.loop = loop }

  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch {
    // Both have the bits of epoll(7).
    let source = try loop.watch(descriptor, for: IOEvents(rawValue: events.rawValue)) {
      handler(Readiness(rawValue: $0.rawValue))
    }
    return LoopWatch(source)
  }
}

private final class LoopWatch: Watch {
  private let source: IOSource

  init(_ source: IOSource) { self.source = source }

  var events: Readiness {
    get { Readiness(rawValue: source.events.rawValue) }
    set { source.events = IOEvents(rawValue: newValue.rawValue) }
  }

  func cancel() { source.cancel() }
}
