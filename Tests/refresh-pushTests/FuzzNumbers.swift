/// Numbers that look random and are the same for the same seed: SplitMix64, <https://prng.di.unimi.it/splitmix64.c>.
struct FuzzNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// The bytes with a few of them changed, removed, doubled or cut off.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0..<Int.random(in: 0...4, using: &self) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &self)
      switch Int.random(in: 0...5, using: &self) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &self)
      case 1: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &self)
      case 2: bytes.remove(at: place)
      case 3: bytes.insert([0, 0x7f, 0x80, 0xff].randomElement(using: &self) ?? 0, at: place)
      case 4: bytes.insert(contentsOf: bytes[place...].prefix(40), at: place)
      default: bytes.removeLast(min(bytes.count, Int.random(in: 1...8, using: &self)))
      }
    }
    return bytes
  }

  /// The bytes in pieces of any size.
  mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 1...max(1, min(rest.count, 64)), using: &self)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
