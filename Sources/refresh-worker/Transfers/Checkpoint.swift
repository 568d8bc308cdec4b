/// When what has come of a file is made durable: after 32 MiB, but not twice in a second, or after 10 s.
///
/// After a loss of power only what was made durable counts; more often would wait for the disk without need.
struct Checkpoint {
  /// A file of so many bytes or fewer has none.
  static let least: Int64 = 128 << 10

  private var bytes: Int64 = 0
  private var bytesNow: Int64 = 0
  private var time = ContinuousClock.now
  private var isUnderWay = false

  /// Whether one is due, with so many bytes there.
  mutating func isDue(at bytes: Int64, now: ContinuousClock.Instant) -> Bool {
    bytesNow = bytes
    guard !isUnderWay, bytes > self.bytes else { return false }
    let passed = time.duration(to: now)
    return passed >= .seconds(10) || (bytes - self.bytes >= 32 << 20 && passed >= .seconds(1))
  }

  mutating func begin() {
    isUnderWay = true
    bytes = bytesNow
    time = .now
  }

  mutating func end() { isUnderWay = false }
}
