import RefreshEngine
import Systemd
import Varlink

/// The clocks, the timers and the turns of the daemon's one thread.
///
/// ``LoopScheduler`` is the event loop; a test gives a scheduler with virtual time.
protocol Scheduler: AnyObject {
  /// Reads both clocks.
  func now() -> Moment

  /// Makes a timer that is not armed yet.
  func timer(_ handler: @escaping () -> Void) throws(SystemdError) -> any WakeTimer

  /// Calls a handler, the only one, each time that the wall clock was set.
  func onClockSet(_ handler: @escaping () -> Void) throws(SystemdError)

  /// Runs work after the present handler has returned, in the order of the calls.
  func soon(_ work: @escaping () -> Void)

  func exit()
}

/// A timer on the boot clock; it goes off once each time it is armed.
protocol WakeTimer: AnyObject {
  /// Arms the timer for an instant, or up to `accuracy` microseconds later, in place of its earlier instant.
  func arm(at bootMicroseconds: Int64, accuracy: Int64)
  func disarm()
  func cancel()
}

extension TimerSource: WakeTimer {}

extension Scheduler {
  /// Arms a timer for a span from now.
  func arm(_ timer: (any WakeTimer)?, after span: Duration, accuracy: Int64) {
    timer?.arm(at: (now().instant + span).microseconds, accuracy: accuracy)
  }
}

/// The event loop for the daemon, as its scheduler.
final class LoopScheduler: Scheduler {
  private let loop: EventLoop
  private let tasks: LoopTasks
  private var clock: ClockSource?

  init(_ loop: EventLoop, _ tasks: LoopTasks) { (self.loop, self.tasks) = (loop, tasks) }

  func now() -> Moment { .now() }

  func timer(_ handler: @escaping () -> Void) throws(SystemdError) -> any WakeTimer {
    try loop.timer(handler: handler)
  }

  func onClockSet(_ handler: @escaping () -> Void) throws(SystemdError) {
    clock = try loop.onClockSet(handler: handler)
  }

  func soon(_ work: @escaping () -> Void) { tasks.run({ _ in }, then: work) }

  func exit() { loop.exit(0) }
}

/// Runs asynchronous work for the event loop's thread, and hands the result back on that thread.
///
/// The daemon itself is an ordinary object that belongs to the thread; all its concurrency is here.
actor LoopTasks {
  private nonisolated let loop: EventLoop

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  init(_ loop: EventLoop) { self.loop = loop }

  /// Starts work; `then` is called with its result in a later turn.
  nonisolated func run<Value: Sendable>(
    _ work: @escaping @Sendable (isolated LoopTasks) async -> Value, then: @escaping (Value) -> Void
  ) {
    let answer = OnLoop(call: then)
    assumeIsolated { $0.start(work, answer) }
  }

  private func start<Value: Sendable>(
    _ work: @escaping @Sendable (isolated LoopTasks) async -> Value, _ answer: OnLoop<Value>
  ) {
    Task { answer.call(await work(self)) }
  }

  /// A handler that is made and called on the loop's thread only, which the compiler cannot see.
  private struct OnLoop<Value>: @unchecked Sendable {
    let call: (Value) -> Void
  }
}

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
