import RefreshEngine
import Testing

@testable import RefreshStore

/// Where instants lie after a restart of the daemon or the machine.
@Suite struct RebootTests {
  /// A restart: the clocks, and where the instants of the state must be found.
  struct Restart: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Whether the machine was restarted too, and how long it is up now.
    let uptime: Duration?
    /// How far the wall clock went from the last save to now.
    let wallPassed: Duration
    /// How long ago, on the new boot clock, the last start must be; it was 10 min before the last save.
    let lastStartAgo: Duration
    /// How far ahead the request must be; it was 5 min after the last save.
    let requestAhead: Duration
  }

  static let restarts = [
    Restart(
      testDescription: "off for an hour", uptime: .minutes(1), wallPassed: .hours(1), lastStartAgo: .minutes(70),
      requestAhead: .minutes(-55)),
    Restart(
      testDescription: "off for two minutes", uptime: .minutes(1), wallPassed: .minutes(2),
      lastStartAgo: .minutes(12), requestAhead: .minutes(3)),
    Restart(
      testDescription: "up for longer than the age of the data", uptime: .hours(30), wallPassed: .hours(31),
      lastStartAgo: .hours(31) + .minutes(10), requestAhead: .minutes(5) - .hours(31)),
    Restart(
      testDescription: "clock set forward by ten years", uptime: .minutes(1), wallPassed: .hours(87_600),
      lastStartAgo: .hours(87_600) + .minutes(10), requestAhead: .minutes(5) - .hours(87_600)),
    Restart(
      testDescription: "clock set back by five minutes", uptime: .minutes(1), wallPassed: .minutes(-5),
      lastStartAgo: .minutes(10), requestAhead: .minutes(5)),
    Restart(
      testDescription: "clock back at 1970, no battery", uptime: .minutes(1), wallPassed: .seconds(-1_749_945_600),
      lastStartAgo: .minutes(10), requestAhead: .minutes(5)),
    Restart(
      testDescription: "same boot, an hour later", uptime: nil, wallPassed: .hours(1), lastStartAgo: .minutes(70),
      requestAhead: .minutes(-55)),
  ]

  @Test(arguments: restarts)
  func `instants keep their place in time`(restart: Restart) async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    let todo = try app("todo")
    var state = AppState(
      isForeground: true, lastStart: saved.now.advanced(by: .minutes(-10)),
      freshAt: saved.now.advanced(by: .minutes(-20)),
      request: Request(trigger: .retry, earliest: saved.now.advanced(by: .minutes(5))),
      running: Started(id: RefreshID(start: 1, number: 9), trigger: .push, at: saved.now.advanced(by: .minutes(-1))))
    state.strikes = [-10, -9, -8].map { saved.now + .minutes($0) }
    state.waiting = Waiting(since: saved.now - .minutes(10), holds: [.network])
    state.skippedUntil = saved.now + .minutes(5)
    state.oneShot = OneShot(earliest: saved.now + .minutes(5), reason: "before the meeting")
    state.keptUnit = "sync.service"
    let device = DeviceState(pause: .until(saved.now + .minutes(5)))
    let (store, _) = try RefreshStore.open(scratch)
    try await store.save(Batch(saved, states: [todo: state], device: device), durably: false)

    let now =
      if let uptime = restart.uptime {
        BootClock.boot("b", age: uptime, wallNow: saved.wall + restart.wallPassed)
      } else {
        saved.later(by: restart.wallPassed)
      }
    let (reopened, loaded) = try RefreshStore.open(scratch, clock: now)
    let found = try #require(loaded.states[todo])
    #expect(loaded.previous == (restart.uptime == nil ? .sameBoot : .otherBoot))
    #expect(found.lastStart?.duration(to: now.now) == restart.lastStartAgo)
    #expect(found.freshAt?.duration(to: now.now) == restart.lastStartAgo + .minutes(10))
    #expect(found.running?.at.duration(to: now.now) == restart.lastStartAgo - .minutes(9))
    #expect(found.request.map { now.now.duration(to: $0.earliest) } == restart.requestAhead)
    #expect(found.strikes.map { $0.duration(to: now.now) } == [0, 1, 2].map { restart.lastStartAgo - .minutes($0) })
    #expect(found.waiting?.since.duration(to: now.now) == restart.lastStartAgo)
    #expect(found.skippedUntil.map { now.now.duration(to: $0) } == restart.requestAhead)
    #expect(found.oneShot.map { now.now.duration(to: $0.earliest) } == restart.requestAhead)
    #expect(loaded.device.pause == .until(now.now + restart.requestAhead))
    #expect(found.isForeground)
    #expect(found.keptUnit == (restart.uptime == nil ? "sync.service" : nil))

    // The mapped state is on the disk as it was loaded: another start in this boot finds the same.
    _ = reopened
    let (_, again) = try RefreshStore.open(scratch, clock: now.later(by: .seconds(1)))
    #expect(again.previous == .sameBoot)
    #expect(again.states == loaded.states)
    #expect(again.device == loaded.device)
  }

  @Test(arguments: [Duration.hours(-48), .minutes(-1), .minutes(1), .hours(48)])
  func `a step of the wall clock within a boot moves nothing`(step: Duration) async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    var values = SeededValues(seed: 11)
    let states = [try app("a"): values.state(), try app("b"): values.state()]
    let (store, _) = try RefreshStore.open(scratch)
    try await store.save(Batch(saved, states: states), durably: false)

    var stepped = saved.later(by: .minutes(3))
    stepped.wallOffset += step
    let (_, loaded) = try RefreshStore.open(scratch, clock: stepped)
    #expect(loaded.states == states)
  }

  @Test(arguments: 1...50)
  func `nothing past becomes future, nothing future goes further away`(seed: UInt64) async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    var values = SeededValues(seed: seed)
    let age = Duration.seconds(Int64.random(in: 0...10_000_000, using: &values))
    let ahead = Duration.seconds(Int64.random(in: 0...100_000, using: &values))
    let todo = try app("todo")
    let state = AppState(
      lastStart: saved.now.advanced(by: .zero - age),
      request: Request(trigger: .catchUp, earliest: saved.now.advanced(by: ahead)))
    let (store, _) = try RefreshStore.open(scratch)
    try await store.save(Batch(saved, states: [todo: state]), durably: false)

    let now = BootClock.boot(
      "b", age: .seconds(Int64.random(in: 0...1_000_000, using: &values)),
      wallNow: .seconds(Int64.random(in: 0...4_000_000_000, using: &values)))
    let (_, loaded) = try RefreshStore.open(scratch, clock: now)
    let found = try #require(loaded.states[todo])
    let lastStart = try #require(found.lastStart)
    let request = try #require(found.request)
    #expect(lastStart <= now.now, "seed \(seed)")
    #expect(lastStart.duration(to: now.now) >= age, "seed \(seed)")
    #expect(now.now.duration(to: request.earliest) <= ahead, "seed \(seed)")
    #expect(lastStart.duration(to: request.earliest) == age + ahead, "seed \(seed)")
  }

  @Test func `a clock that is not set yet is late after a restart and a loss of power, too`() async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    let todo = try app("todo")
    let state = AppState(lastStart: saved.now - .minutes(10))
    try await RefreshStore.open(scratch).0.save(Batch(saved, states: [todo: state]), durably: false)
    let early = BootClock.boot("b", age: .minutes(1), wallNow: .minutes(1))
    let first = try RefreshStore.open(scratch, clock: early).1
    let second = try RefreshStore.open(scratch, clock: early.later(by: .minutes(5))).1
    for late in [first.lateClock, second.lateClock] {
      #expect(late?.savedWall == saved.wall.inMicroseconds && late?.restoredAt == early.now)
    }

    // The power fails before the clock is set.
    let again = BootClock.boot("c", age: .minutes(1), wallNow: .minutes(1))
    let (store, loaded) = try RefreshStore.open(scratch, clock: again)
    #expect(loaded.lateClock?.savedWall == (saved.wall + .minutes(5)).inMicroseconds)
    #expect(loaded.states[todo]?.lastStart?.duration(to: again.now) == .minutes(15))

    // It is set an hour later, two hours after the last right clock, and the state that the engine has moved is saved.
    var set = again.later(by: .hours(1))
    set.wallOffset += saved.wall + .hours(1)
    try await store.save(Batch(set), durably: false)
    let (_, settled) = try RefreshStore.open(scratch, clock: set.later(by: .minutes(1)))
    #expect(settled.lateClock == nil)
  }

  @Test func `a late clock that is set while no daemon runs tells the time off`() async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    let todo = try app("todo")
    var state = AppState(lastStart: saved.now - .minutes(10))
    state.skippedUntil = saved.now + .hours(9)
    try await RefreshStore.open(scratch).0.save(Batch(saved, states: [todo: state]), durably: false)
    let late = BootClock.boot("b", age: .minutes(1), wallNow: .minutes(1))
    _ = try RefreshStore.open(scratch, clock: late)

    var set = late.later(by: .minutes(10))
    set.wallOffset = saved.wall + .hours(1) - Instant.zero.duration(to: late.now)
    // The second daemon finds on the disk what the first one counted.
    for _ in 1...2 {
      let (_, loaded) = try RefreshStore.open(scratch, clock: set)
      #expect(loaded.lateClock == nil)
      #expect(loaded.states[todo]?.lastStart?.duration(to: late.now) == .hours(1) + .minutes(10))
      // Nobody knows any more which times ahead were set by the late clock.
      #expect(loaded.states[todo]?.skippedUntil == late.now + .hours(9))
    }
  }

  @Test func `a boot whose clock is right counts from the last right clock`() async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    let todo = try app("todo")
    let state = AppState(lastStart: saved.now - .minutes(10))
    try await RefreshStore.open(scratch).0.save(Batch(saved, states: [todo: state]), durably: false)
    _ = try RefreshStore.open(scratch, clock: .boot("b", age: .minutes(1), wallNow: .minutes(1)))
    let right = BootClock.boot("c", age: .minutes(1), wallNow: saved.wall + .hours(2))
    let (_, loaded) = try RefreshStore.open(scratch, clock: right)
    #expect(loaded.states[todo]?.lastStart?.duration(to: right.now) == .hours(2) + .minutes(10))
  }

  @Test func `an empty batch saves a step of the wall clock for the next boot`() async throws {
    let scratch = try ScratchDirectory()
    let saved = BootClock.morning
    let todo = try app("todo")
    let (store, _) = try RefreshStore.open(scratch)
    try await store.save(Batch(saved, states: [todo: AppState(lastStart: saved.now)]), durably: false)
    // NTP finds that it is two hours later than the clock said.
    var stepped = saved.later(by: .minutes(1))
    stepped.wallOffset += .hours(2)
    try await store.save(Batch(stepped), durably: false)

    let now = BootClock.boot("b", age: .seconds(30), wallNow: stepped.wall + .minutes(9))
    let (_, loaded) = try RefreshStore.open(scratch, clock: now)
    #expect(loaded.states[todo]?.lastStart?.duration(to: now.now) == .minutes(10))
  }
}

extension BootClock {
  /// The clock of the same boot a while later.
  fileprivate func later(by duration: Duration) -> BootClock {
    BootClock(bootID: bootID, now: now.advanced(by: duration), wallOffset: wallOffset)
  }
}
