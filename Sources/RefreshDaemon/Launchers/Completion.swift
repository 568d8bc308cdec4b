import RefreshEngine

/// A task's own word for how it went, which came before its end.
struct Completion: Hashable, Sendable {
  /// How it went; a failure is ``Cause/reported(_:)``.
  let outcome: Outcome
  /// What it said, if anything.
  let message: String
  /// What it said of the next refresh.
  let hints: Hints

  /// What a task says of the next refresh.
  struct Hints: Hashable, Sendable {
    /// When to try again at the earliest if the refresh fails, from its end on.
    var retryAfter: Duration?
    /// For how long after the end of the refresh there will be nothing new, if it does not fail.
    var freshFor: Duration?
  }

  init(_ outcome: Outcome, message: String, hints: Hints = Hints()) {
    (self.outcome, self.message, self.hints) = (outcome, message, hints)
  }

  /// Reads the form that ``text`` writes; nothing for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    // Three from a daemon that knew no `freshFor`.
    guard (3...4).contains(parts.count), let bytes = [UInt8](hexadecimal: parts[2]) else { return nil }
    message = String(decoding: bytes, as: UTF8.self)
    hints = Hints(
      retryAfter: Int64(parts[1]).map { .microseconds($0) },
      freshFor: parts.count == 4 ? Int64(parts[3]).map { .microseconds($0) } : nil)
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
    let spans = [hints.retryAfter, hints.freshFor].map { $0.map { String($0.inMicroseconds) } ?? "-" }
    return "\(word) \(spans[0]) \(digits) \(spans[1])"
  }
}

extension [UInt8] {
  fileprivate init?(hexadecimal text: some StringProtocol) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}
