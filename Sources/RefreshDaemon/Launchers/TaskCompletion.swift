import RefreshEngine

/// A task's report about its own work, sent before it ends.
struct TaskCompletion: Hashable, Sendable {
  /// The outcome; a failure is ``Cause/reported(_:)``.
  let outcome: Outcome
  /// The message of the task; may be empty.
  let message: String
  /// The hints for the next refresh.
  let hints: Hints

  /// A task's hints for the next refresh.
  struct Hints: Hashable, Sendable {
    /// The earliest retry if the refresh fails, counted from its end.
    var retryAfter: Duration?
    /// How long after the end of the refresh nothing will be new, if the refresh succeeds.
    var freshFor: Duration?
  }

  init(_ outcome: Outcome, message: String, hints: Hints = Hints()) {
    (self.outcome, self.message, self.hints) = (outcome, message, hints)
  }

  /// Reads the form that ``text`` writes; nil for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    // Daemons without `freshFor` wrote three parts.
    guard (3...4).contains(parts.count), let bytes = [UInt8](hexadecimal: parts[2]) else { return nil }
    let message = String(decoding: bytes, as: UTF8.self)
    guard let outcome = Outcome.Kind(rawValue: String(parts[0])).flatMap({ Outcome($0, .reported(message)) }) else {
      return nil
    }
    (self.outcome, self.message) = (outcome, message)
    hints = Hints(
      retryAfter: Int64(parts[1]).map { .microseconds($0) },
      freshFor: parts.count == 4 ? Int64(parts[3]).map { .microseconds($0) } : nil)
  }

  /// The completion in one line without quotes, with any message.
  var text: String {
    let digits = message.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let spans = [hints.retryAfter, hints.freshFor].map { $0.map { String($0.inMicroseconds) } ?? "-" }
    return "\(outcome.kind.rawValue) \(spans[0]) \(digits) \(spans[1])"
  }
}

extension [UInt8] {
  fileprivate init?(hexadecimal text: some StringProtocol) {
    let digits = text.compactMap(\.hexDigitValue)
    guard digits.count == text.count, digits.count.isMultiple(of: 2) else { return nil }
    self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
  }
}
