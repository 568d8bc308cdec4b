/// A number of JSON in plain digits, exactly as it was written: `42.0` is `42`, `1e3` is `1000`.
struct DecimalText: Equatable {
  /// The most digits, as many as the decimal types of databases and of Foundation have.
  private static let mostDigits = 38
  private static let exponents = -128...127

  let text: String

  /// Reads a number that follows the grammar; nil if it has too many digits or too large an exponent.
  init?(_ number: String) {
    let parts = number.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
    guard let mantissa = parts.first, var exponent = parts.count > 1 ? Int(String(parts[1]) ?? "") : 0 else {
      return nil
    }
    let isNegative = mantissa.first == UInt8(ascii: "-")
    let pieces = mantissa.drop { $0 == UInt8(ascii: "-") }.split(
      separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
    let fraction = pieces.count > 1 ? pieces[1].count : 0
    var digits = Array(pieces.joined().drop { $0 == UInt8(ascii: "0") })
    guard !digits.isEmpty else {
      text = "0"
      return
    }
    guard exponent.magnitude < 1_000_000 else { return nil }
    exponent -= fraction
    while digits.last == UInt8(ascii: "0") {
      digits.removeLast()
      exponent += 1
    }
    guard digits.count <= Self.mostDigits, Self.exponents.contains(exponent) else { return nil }
    text = (isNegative ? "-" : "") + Self.plain(digits, exponent)
  }

  private static func plain(_ digits: [UInt8], _ exponent: Int) -> String {
    let zeros = { (count: Int) in String(repeating: "0", count: max(0, count)) }
    let text = String(decoding: digits, as: UTF8.self)
    guard exponent < 0 else { return text + zeros(exponent) }
    let padded = zeros(1 - exponent - digits.count) + text
    return "\(padded.dropLast(-exponent)).\(padded.suffix(-exponent))"
  }
}
