/// The lines that were dropped in one place, since the last note about them.
struct DroppedLines {
  private(set) var lines = 0
  private var bytes = 0

  /// Counts a line of so many bytes, with its line break.
  mutating func add(_ count: Int) {
    lines += 1
    bytes += count + 1
  }

  /// The sentence about the lines, which are not counted any more; nil without any.
  mutating func claimNote() -> String? {
    guard lines > 0 else { return nil }
    defer { self = DroppedLines() }
    return "refreshd dropped \(lines) lines (\(bytes) bytes) of output here: an app may print \(OutputAllowance.rule)"
  }
}

/// How much may still be written about one app: two token buckets, of lines and of bytes.
///
/// The output of its tasks has one allowance, and the daemon's entries about it another (``EntryAllowances``).
///
/// An app that has used up its allowance is refused until a quarter has come back, so that notes about dropped lines stay
/// few.
struct OutputAllowance {
  /// The lines that an app may print at once, and again within ``span``.
  ///
  /// Far below the rate that journald allows one service by default (10,000 in 30 s), so that no app uses up the others'
  /// share.
  static let lines = 1000.0
  /// The bytes that an app may print at once, and again within ``span``.
  static let bytes = Double(1 << 20)
  /// How long a full allowance takes to come back, in microseconds.
  static let span = 30_000_000.0

  private var lines = Self.lines
  private var bytes = Self.bytes
  private var updated: Int64?
  private var isOpen = true

  /// Whether a line may pass now, boot clock in microseconds.
  mutating func admits(_ count: Int, at now: Int64) -> Bool {
    refill(at: now)
    if isOpen, lines >= 1, bytes >= Double(count) {
      lines -= 1
      bytes -= Double(count)
      return true
    }
    isOpen = false
    return false
  }

  /// Whether lines are dropped at present.
  var isSpent: Bool { !isOpen }

  /// Whether the app has printed nothing for so long that it can be forgotten.
  mutating func isFull(at now: Int64) -> Bool {
    refill(at: now)
    return lines == Self.lines && bytes == Self.bytes
  }

  /// The bound in words.
  static var rule: String {
    "\(Int(Self.lines)) lines or \(Int(Self.bytes) >> 20) MiB in \(Int(Self.span) / 1_000_000) s"
  }

  private mutating func refill(at now: Int64) {
    defer { updated = now }
    guard let updated, now > updated else { return }
    let share = Double(now - updated) / Self.span
    lines = min(Self.lines, lines + share * Self.lines)
    bytes = min(Self.bytes, bytes + share * Self.bytes)
    if lines >= Self.lines / 4, bytes >= Self.bytes / 4 { isOpen = true }
  }
}
