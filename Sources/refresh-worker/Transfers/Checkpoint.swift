/// Decides when a running download is synced to disk: after 32 MiB, but at most once a second, or after 10 s.
///
/// After a power loss only synced bytes count. More frequent syncs would load the disk without need.
struct Checkpoint {
  /// A file of this size or less needs no checkpoint.
  static let least: Int64 = 128 << 10

  private var bytes: Int64 = 0
  private var bytesNow: Int64 = 0
  private var time = ContinuousClock.now
  private var isUnderWay = false

  /// Whether a checkpoint is due after this many bytes.
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
