/// A hash that is the same in every process, on every machine, in every version: FNV-1a of 64 bits, mixed once more.
///
/// The standard library's is another one each time a program starts.
struct StableHash {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// The hash of a text.
  static func of(_ text: String) -> UInt64 {
    var hash = StableHash()
    for byte in text.utf8 { hash.combine(byte) }
    return hash.value
  }

  /// Adds one byte.
  mutating func combine(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

  /// Adds the bytes of an integer.
  mutating func combine(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { combine(bytes: $0) }
  }

  /// Adds bytes.
  mutating func combine(bytes: UnsafeRawBufferPointer) {
    for byte in bytes { combine(byte) }
  }

  /// The hash of all that was added, whose bits all depend on all of it (MurmurHash3's last step).
  var value: UInt64 {
    var hash = state
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
}
