import Glibc
import Testing

@testable import Systemd

@Suite struct EventLoopTests {
  @Test func runReturnsTheCodeOfExit() throws {
    let loop = try EventLoop()
    let timer = try loop.timer { loop.exit(7) }
    timer.arm(at: 0, accuracy: 0)
    #expect(try loop.turn() == 7)
  }

  @Test func aLoopRunsOnce() throws {
    let loop = try EventLoop()
    loop.exit(0)
    _ = try loop.turn()
    #expect(throws: SystemdError.self) { try loop.run() }
  }

  @Test func aLoopRefusesToRunOnAnotherThread() async throws {
    let loop = try EventLoop()
    let refusal = try await onAnotherThread { () -> SystemdError? in
      do throws(SystemdError) { _ = try loop.run() } catch { return error }
      return nil
    }
    #expect(refusal?.code == EPERM)
  }

  // MARK: Timers

  @Test func timersFireInOrderAndNotBeforeTheirInstants() throws {
    let loop = try EventLoop()
    let start = EventLoop.bootMicroseconds()
    var trace: [String] = []
    var early = 0
    func timer(_ name: String, after microseconds: Int64) throws -> TimerSource {
      let timer = try loop.timer {
        trace.append(name)
        if EventLoop.bootMicroseconds() < start + microseconds { early += 1 }
        if trace.count == 3 { loop.exit(0) }
      }
      timer.arm(at: start + microseconds, accuracy: 0)
      return timer
    }
    let timers = try [timer("c", after: 30_000), timer("a", after: 1_000), timer("b", after: 15_000)]
    #expect(try loop.turn() == 0)
    withExtendedLifetime(timers) {}
    #expect(trace == ["a", "b", "c"])
    #expect(early == 0)
  }

  @Test func anAccuracyOfZeroIsNotTheDefaultOfSdEvent() throws {
    // With sd-event's default of 250 ms, the first timer would wait to share the wake of the second.
    let loop = try EventLoop()
    let start = EventLoop.bootMicroseconds()
    var first: Int64 = 0
    let one = try loop.timer { first = EventLoop.bootMicroseconds() - start }
    let two = try loop.timer { loop.exit(0) }
    one.arm(at: start + 10_000, accuracy: 0)
    two.arm(at: start + 240_000, accuracy: 0)
    #expect(try loop.turn() == 0)
    #expect(first < 200_000)
  }

  @Test func armingAgainReplacesTheInstant() throws {
    let loop = try EventLoop()
    let start = EventLoop.bootMicroseconds()
    var rings = 0
    let timer = try loop.timer { rings += 1 }
    timer.arm(at: start + 1_000, accuracy: 1)
    timer.arm(at: start + 5_000, accuracy: 1)
    let end = try loop.timer { loop.exit(0) }
    end.arm(at: start + 30_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(rings == 1)
  }

  @Test func aTimerInThePastFiresAtOnceAlsoBeforeTheBoot() throws {
    let loop = try EventLoop()
    let timer = try loop.timer { loop.exit(0) }
    timer.arm(at: -1, accuracy: 1)
    #expect(try loop.turn() == 0)
  }

  @Test func aTimerCanArmItselfAgainOrCancelItself() throws {
    let loop = try EventLoop()
    var rings = 0
    var timer: TimerSource?
    timer = try loop.timer {
      rings += 1
      if rings < 3 { timer?.arm(at: 0, accuracy: 1) } else { timer = nil }
    }
    timer?.arm(at: 0, accuracy: 1)
    let end = try loop.timer { loop.exit(0) }
    end.arm(at: EventLoop.bootMicroseconds() + 20_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(rings == 3)
  }

  @Test func disarmedAndCancelledTimersAreSilent() throws {
    let loop = try EventLoop()
    var rings = 0
    let (disarmed, cancelled) = try (loop.timer { rings += 1 }, loop.timer { rings += 1 })
    for timer in [disarmed, cancelled] { timer.arm(at: 0, accuracy: 1) }
    disarmed.disarm()
    cancelled.cancel()
    cancelled.arm(at: 0, accuracy: 1)
    let end = try loop.timer { loop.exit(0) }
    end.arm(at: EventLoop.bootMicroseconds() + 10_000, accuracy: 1)
    #expect(try loop.turn() == 0)
    #expect(rings == 0)
  }

  // MARK: Signals

  @Test func aSignalIsAnEventAndNotTheEndOfTheProcess() throws {
    let loop = try EventLoop()
    let source = try loop.onSignal(SIGUSR1) { loop.exit(0) }
    // Only to this thread: other threads of the test program do not block the signal.
    pthread_kill(pthread_self(), SIGUSR1)
    #expect(try loop.turn() == 0)
    source.cancel()
  }

  @Test func twoSignalsHaveTheirOwnHandlers() throws {
    let loop = try EventLoop()
    var trace: [String] = []
    let sources = try [
      loop.onSignal(SIGUSR1) { trace.append("USR1") },
      loop.onSignal(SIGUSR2) {
        trace.append("USR2")
        loop.exit(0)
      },
    ]
    for signal in [SIGUSR1, SIGUSR2] { pthread_kill(pthread_self(), signal) }
    #expect(try loop.turn() == 0)
    withExtendedLifetime(sources) {}
    #expect(trace == ["USR1", "USR2"])
  }

  @Test func anInvalidSignalIsRefused() throws {
    let loop = try EventLoop()
    #expect(throws: SystemdError(cannot: "watch signal 4711", code: EINVAL)) { _ = try loop.onSignal(4711) {} }
  }
}
