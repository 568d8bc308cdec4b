/// The one source of chance of a simulation: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators", 2014), begun with the seed, so that the seed decides everything.
public struct Chance: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Begins the sequence of a seed.
  public init(seed: UInt64) { state = seed }

  /// The next 64 bits.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var bits = state
    bits = (bits ^ (bits >> 30)) &* 0xbf58_476d_1ce4_e5b9
    bits = (bits ^ (bits >> 27)) &* 0x94d0_49bb_1331_11eb
    return bits ^ (bits >> 31)
  }

  /// True in `percent` of 100 cases.
  public mutating func happens(_ percent: Int) -> Bool { number(below: 100) < percent }

  /// A number from 0, less than `bound`.
  public mutating func number(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(max(1, bound))).high)
  }

  /// A duration between two others, in whole microseconds.
  public mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
    let span = (range.upperBound - range.lowerBound) / .microseconds(1)
    return range.lowerBound + .microseconds(number(below: Int(span) + 1))
  }

  /// A choice, all equally likely.
  ///
  /// A choice of ranges and then of a value in it also finds the short durations, which one long range would not.
  public mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[number(below: choices.count)]
  }
}
