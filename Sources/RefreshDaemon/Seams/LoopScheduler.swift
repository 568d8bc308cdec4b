import Systemd

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
