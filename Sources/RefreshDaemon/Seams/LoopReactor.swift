import Systemd
import Varlink

/// The event loop for the socket's server.
final class LoopReactor: Reactor {
  private let loop: EventLoop

  init(loop: EventLoop) { self.loop = loop }

  func watch(
    _ descriptor: Int32, for events: Readiness, handler: @escaping (Readiness) -> Void
  ) throws -> any Watch {
    LoopWatch(try loop.watch(descriptor, for: IOEvents(events)) { handler(Readiness($0)) })
  }
}

/// A source of the loop for the server.
private final class LoopWatch: Watch {
  private let source: IOSource

  init(_ source: IOSource) { self.source = source }

  var events: Readiness {
    get { Readiness(source.events) }
    set { source.events = IOEvents(newValue) }
  }

  func cancel() { source.cancel() }
}

// Both types use the bits of epoll_ctl(2).

extension IOEvents {
  fileprivate init(_ readiness: Readiness) { self.init(rawValue: readiness.rawValue) }
}

extension Readiness {
  fileprivate init(_ events: IOEvents) { self.init(rawValue: events.rawValue) }
}
