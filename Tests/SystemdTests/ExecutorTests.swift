import Glibc
import Testing

@testable import Systemd

/// An actor on the loop, as the daemon is.
private actor Counter {
  nonisolated let loop: EventLoop
  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
  private(set) var count = 0
  private var timer: TimerSource?

  init(on loop: EventLoop) { self.loop = loop }

  func add() { count += 1 }

  func end() {
    loop.checkIsolated()
    loop.exit(0)
  }

  /// Enqueues new jobs until the loop ends, for two seconds at most.
  func keepAdding(since start: Int64 = EventLoop.bootMicroseconds()) {
    add()
    guard EventLoop.bootMicroseconds() < start + 2_000_000 else { return loop.exit(late) }
    Task { keepAdding(since: start) }
  }

  /// Counts when a timer fires, in a handler that uses the actor's state.
  func countTimer() throws {
    timer = try loop.timer { [unowned self] in
      assumeIsolated { counter in
        counter.count += 1
        counter.loop.exit(0)
      }
    }
    timer?.arm(at: 0, accuracy: 1)
  }
}

@Suite struct ExecutorTests {
  @Test func anActorRunsOnTheLoopsThread() async throws {
    let (code, count) = try await onAnotherThread {
      let loop = try EventLoop()
      let counter = Counter(on: loop)
      Task {
        await counter.add()
        await counter.end()
      }
      return (try loop.turn(), counter.assumeIsolated { $0.count })
    }
    #expect((code, count) == (0, 1))
  }

  @Test func aHandlerEntersAnActorWithoutAHop() throws {
    let loop = try EventLoop()
    let counter = Counter(on: loop)
    try counter.assumeIsolated { try $0.countTimer() }
    #expect(try loop.turn() == 0)
    #expect(counter.assumeIsolated { $0.count } == 1)
  }

  @Test func jobsOfManyThreadsAllRun() async throws {
    let (code, count) = try await onAnotherThread {
      let loop = try EventLoop()
      let counter = Counter(on: loop)
      Task {
        await withTaskGroup { group in
          for _ in 0..<10_000 { group.addTask { await counter.add() } }
        }
        await counter.end()
      }
      return (try loop.turn(), counter.assumeIsolated { $0.count })
    }
    #expect((code, count) == (0, 10_000))
  }

  @Test func endlessJobsDoNotStarveATimer() async throws {
    let code = try await onAnotherThread {
      let loop = try EventLoop()
      let counter = Counter(on: loop)
      let timer = try loop.timer { loop.exit(0) }
      timer.arm(at: EventLoop.bootMicroseconds() + 20_000, accuracy: 1)
      Task { await counter.keepAdding() }
      return try loop.turn()
    }
    #expect(code == 0)
  }

  @Test func isolationFollowsTheThread() async throws {
    let loop = try EventLoop()
    #expect(loop.isIsolatingCurrentContext() == true)
    let elsewhere = try await onAnotherThread { loop.isIsolatingCurrentContext() }
    #expect(elsewhere == false)
  }
}
