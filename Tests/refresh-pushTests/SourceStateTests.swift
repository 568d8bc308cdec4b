import Testing

@testable import refresh_push

/// When a source tries again, in virtual time.
struct SourceStateTests {
  private let start = ContinuousClock.now

  /// Has a source whose server is gone try as often as it is due, for so long, and gives when it did.
  private func tries(_ state: inout SourceState, for time: Duration, seed: UInt64, next: NextTry = .backOff)
    -> [Duration]
  {
    var chance = Seeded(state: seed)
    var now = start
    var tries: [Duration] = []
    while now < start + time {
      guard state.isDue(at: now) else {
        guard let retry = state.retry else { break }
        now = max(now, retry)
        continue
      }
      tries.append(start.duration(to: now))
      state.beginTry()
      #expect(!state.isDue(at: now))
      state.fail("cannot connect", next: next, at: now, &chance)
    }
    return tries
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func aServerThatIsGoneForAnHourIsAskedSeldom(seed: UInt64) {
    var state = SourceState(at: start)
    let tries = tries(&state, for: .seconds(3600), seed: seed)
    // Nine until the bound is 5 min, and then one in 150 s on average.
    #expect((12...60).contains(tries.count), "\(tries.count) tries")
    #expect(tries.first == .zero)
    #expect(state.problem == "cannot connect")
    #expect(state.since == start)
  }

  @Test func aConnectionOfHalfAMinuteMakesTheNextWaitAFirstOne() {
    var chance = Seeded(state: 1)
    for (lasted, isFirst) in [(Duration.seconds(30), true), (.seconds(29), false)] {
      var state = SourceState(at: start)
      _ = tries(&state, for: .seconds(3600), seed: 5)
      let connected = start + .seconds(4000)
      state.beginTry()
      state.connect(at: connected)
      #expect(state.isConnected && state.problem == nil && state.since == connected)
      var waits: [Duration] = []
      for _ in 0..<20 {
        var copy = state
        copy.fail("broke", next: .backOff, at: connected + lasted, &chance)
        if let retry = copy.retry { waits.append((connected + lasted).duration(to: retry)) }
      }
      #expect(waits.allSatisfy { $0 <= .seconds(1) } == isFirst)
    }
  }

  @Test func somethingNewOrAPlannedEndMakesTheNextWaitAFirstOne() {
    var chance = Seeded(state: 1)
    for (brings, next) in [(true, NextTry.backOff), (false, .asPlanned(.zero))] {
      var state = SourceState(at: start)
      _ = tries(&state, for: .seconds(3600), seed: 5)
      state.beginTry()
      state.connect(at: start)
      if brings { state.bring() }
      state.fail("the server has ended the connection", next: next, at: start, &chance)
      #expect(state.retry.map { $0 <= start + .seconds(1) } == true)
    }
    var state = SourceState(at: start)
    state.beginTry()
    state.connect(at: start)
    state.fail("the server has ended the connection", next: .asPlanned(.seconds(42)), at: start, &chance)
    #expect(state.retry == start + .seconds(42))
  }

  @Test func aConnectedSourceMayHaveAProblemUntilItHasNone() {
    var state = SourceState(at: start)
    state.limit("not connected")
    #expect(state.problem == nil)
    state.beginTry()
    state.connect(at: start)
    state.limit("a topic must not be read")
    #expect(state.isConnected && state.problem == "a topic must not be read")
    state.limit(nil)
    #expect(state.problem == nil)
  }

  @Test func theWordOfTheServerGoesBeforeTheBackOff() {
    var chance = Seeded(state: 1)
    var state = SourceState(at: start)
    state.beginTry()
    state.fail("asked too often", next: .notBefore(.seconds(42)), at: start, &chance)
    #expect(state.retry == start + .seconds(42))
    state.beginTry()
    state.fail("another has its id", next: .longest, at: start, &chance)
    #expect(state.retry.map { $0 >= start + .seconds(150) } == true)
    state.beginTry()
    state.fail("no more to say", next: .never, at: start, &chance)
    #expect(state.retry == nil)
    #expect(!state.isDue(at: start + .seconds(100_000)))
    // Nor on another network.
    state.resetForNewNetwork()
    #expect(!state.isDue(at: start + .seconds(100_000)))
  }

  @Test func onAnotherNetworkItTriesAtOnce() {
    var state = SourceState(at: start)
    _ = tries(&state, for: .seconds(3600), seed: 9)
    #expect(!state.isDue(at: start))
    state.resetForNewNetwork()
    #expect(state.isDue(at: start))
    // The back-off of the old network does not count either.
    var chance = Seeded(state: 2)
    state.beginTry()
    state.fail("cannot connect", next: .backOff, at: start, &chance)
    #expect(state.retry.map { $0 <= start + .seconds(1) } == true)
  }

  @Test func whatRestsIsDueWhenItMay() {
    var state = SourceState(at: start)
    state.beginTry()
    state.connect(at: start)
    state.disconnect("the network may not be used", at: start + .seconds(5))
    #expect(!state.isConnected && state.since == start + .seconds(5))
    #expect(state.problem == "the network may not be used")
    #expect(state.isDue(at: start + .seconds(5)))
  }
}
