import RefreshEngine

/// A task's own word for how it went, which came before its end.
struct Completion: Hashable, Sendable {
  /// How it went; a failure is ``Cause/reported(_:)``.
  let outcome: Outcome
  /// What it said, if anything.
  let message: String
  /// When to try again at the earliest if the refresh fails, from its end on.
  let retryAfter: Duration?

  init(_ outcome: Outcome, message: String, retryAfter: Duration?) {
    (self.outcome, self.message, self.retryAfter) = (outcome, message, retryAfter)
  }

  /// Reads the form that ``text`` writes; nothing for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = [UInt8](hexadecimal: parts[2]) else { return nil }
    message = String(decoding: bytes, as: UTF8.self)
    retryAfter = Int64(parts[1]).map { .microseconds($0) }
    switch parts[0] {
    case "new-data": outcome = .newData
    case "no-data": outcome = .noData
    case "failed": outcome = .failed(.reported(message))
    default: return nil
    }
  }

  /// The completion in one line without quotes, whatever the message is.
  var text: String {
    let word =
      switch outcome {
      case .newData: "new-data"
      case .noData: "no-data"
      case .failed: "failed"
      }
    let digits = message.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    return "\(word) \(retryAfter.map { String($0.inMicroseconds) } ?? "-") \(digits)"
  }
}

extension [UInt8] {
  fileprivate init?(hexadecimal text: some StringProtocol) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}
