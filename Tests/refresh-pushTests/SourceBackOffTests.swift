import Testing

@testable import refresh_push

/// Chance that a seed decides (SplitMix64).
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

/// How long the bridge waits before it tries again.
struct SourceBackOffTests {
  @Test func boundsDoubleFromOneSecondToFiveMinutes() {
    var backOff = SourceBackOff()
    var chance = Seeded(state: 1)
    var bounds: [Duration] = []
    for _ in 0..<12 {
      bounds.append(backOff.bound)
      _ = backOff.next(&chance)
    }
    #expect(bounds == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300].map { .seconds($0) })
  }

  @Test(arguments: 0..<100 as Range<UInt64>)
  func anyPartOfTheBoundIsWaited(seed: UInt64) {
    var backOff = SourceBackOff()
    var chance = Seeded(state: seed)
    for _ in 0..<20 {
      let bound = backOff.bound
      #expect((.zero...bound).contains(backOff.next(&chance)))
    }
  }

  @Test func jitterIsFull() {
    // Of many who wait with the same bound, some come in each tenth of it.
    let tenths = (0..<500 as Range<UInt64>).map { seed in
      var backOff = SourceBackOff(longest: .seconds(1))
      var chance = Seeded(state: seed)
      return Int(backOff.next(&chance) / .milliseconds(100))
    }
    #expect(Set(tenths).isSuperset(of: 0...9))
  }

  @Test func theLongestIsHalfOfItAtLeast() {
    var backOff = SourceBackOff()
    var chance = Seeded(state: 7)
    for _ in 0..<50 { #expect((.seconds(150) ... .seconds(300)).contains(backOff.last(&chance))) }
  }

  @Test func countingManyFailuresDoesNotOverflow() {
    var backOff = SourceBackOff()
    var chance = Seeded(state: 3)
    for _ in 0..<10_000 { _ = backOff.next(&chance) }
    #expect(backOff.bound == .seconds(300))
    backOff.reset()
    #expect(backOff.bound == .seconds(1))
  }
}
