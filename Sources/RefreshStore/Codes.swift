import RefreshEngine

/// A value that is stored as one word.
///
/// The word is the raw value in the engine, which the fixtures of released schemas pin. A new word is a new schema
/// version, because an older refreshd cannot read it.
protocol DiskCode: RawRepresentable<String>, ColumnContent {}

extension DiskCode {
  var code: String { rawValue }

  init?(code: String) { self.init(rawValue: code) }
}

extension Trigger: DiskCode {}
extension Outcome.Kind: DiskCode {}
extension Cause.Kind: DiskCode {}
extension StopReason: DiskCode {}
extension Hold.Name: DiskCode {}
extension NetworkConstraint: DiskCode {}
extension TransferStop: DiskCode {}
extension TransferResult: DiskCode {}
extension TransferRequest.Direction: DiskCode {}
extension Urgency: DiskCode {}

extension RefreshID {
  /// The id as one integer in the order of the ids: start << 32 | number.
  var key: Int64 { Int64(bitPattern: UInt64(start) << 32 | UInt64(number)) }

  init(key: Int64) {
    let bits = UInt64(bitPattern: key)
    self.init(start: UInt32(bits >> 32), number: UInt32(truncatingIfNeeded: bits))
  }
}

extension Interval {
  private static let unit = "us"

  /// The interval as one word: `never`, `minimum`, or microseconds such as `300000000us`.
  var code: String { text { "\($0.inMicroseconds)\(Self.unit)" } }

  init?(code: String) {
    guard code.hasSuffix(Self.unit) else {
      self.init(word: code)
      return
    }
    guard let microseconds = Int64(code.dropLast(Self.unit.count)) else { return nil }
    self = .every(.microseconds(microseconds))
  }
}
