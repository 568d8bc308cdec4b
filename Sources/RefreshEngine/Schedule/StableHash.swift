/// A hash that is the same in every process, machine and version: 64-bit FNV-1a with a final mix.
///
/// The hash of the standard library differs each time a program starts.
public struct StableHash: Sendable {
  private var state: UInt64 = 0xcbf2_9ce4_8422_2325

  /// Begins a hash of no bytes.
  public init() {}

  /// The hash of a text.
  public static func of(_ text: String) -> UInt64 {
    var hash = StableHash()
    for byte in text.utf8 { hash.combine(byte) }
    return hash.value
  }

  /// Adds a byte.
  public mutating func combine(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }

  /// Adds the bytes of an integer.
  public mutating func combine(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { combine(bytes: $0) }
  }

  /// Adds bytes.
  public mutating func combine(bytes: UnsafeRawBufferPointer) {
    for byte in bytes { combine(byte) }
  }

  /// The hash of all added bytes, finished with the last step of MurmurHash3.
  public var value: UInt64 {
    var hash = state
    hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ hash >> 33
  }
}
