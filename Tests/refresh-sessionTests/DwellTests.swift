import Testing

@testable import refresh_session

/// The moments after which an app counts as in front, and no longer.
@Suite struct DwellTests {
  /// Plays what is shown from an instant in milliseconds on, and checks whether the app then counts as in front.
  private func play(_ steps: [(at: Int64, isShown: Bool, isThere: Bool, counts: Bool)]) {
    var dwell = Dwell()
    for step in steps {
      dwell.update(isShown: step.isShown, isThere: step.isThere, at: step.at * 1000)
      #expect(dwell.isFront == step.counts, "at \(step.at) ms")
    }
  }

  @Test func `It counts after half a second, and no longer a third of a second after`() {
    play([
      (0, true, true, false), (499, true, true, false), (500, true, true, true), (900, false, true, true),
      (1199, false, true, true), (1200, false, true, false),
    ])
  }

  @Test func `Who passes by, and a flicker, do not count`() {
    play([
      (0, true, true, false), (400, false, true, false), (450, true, true, false), (940, true, true, false),
      (950, true, true, true), (1000, false, true, true), (1001, true, true, true), (1400, true, true, true),
    ])
  }

  @Test func `Nobody there ends it at once, and it begins anew`() {
    play([
      (0, true, true, false), (500, true, true, true), (600, true, false, false), (700, true, true, false),
      (1199, true, true, false), (1200, true, true, true),
    ])
  }

  @Test func `It asks for a wake only while something is to change`() {
    var dwell = Dwell()
    dwell.update(isShown: true, isThere: true, at: 0)
    #expect(dwell.changesAt == 500_000)
    dwell.update(isShown: true, isThere: true, at: 500_000)
    #expect(dwell.changesAt == nil)
    dwell.update(isShown: false, isThere: true, at: 600_000)
    #expect(dwell.changesAt == 900_000)
    dwell.update(isShown: false, isThere: false, at: 700_000)
    #expect(dwell.changesAt == nil)
  }
}
