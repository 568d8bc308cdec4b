import RefreshEngine

extension KnownTransfers {
  /// The displayed speed of a transfer: the average over a few seconds.
  struct Speed {
    private var bytes: Int64
    private var at: Instant
    /// Bytes a second; nil until it is known.
    private(set) var rate: Int64?

    init(bytes: Int64, at now: Instant) { (self.bytes, at) = (bytes, now) }

    /// Updates the speed with the moved bytes.
    mutating func note(_ bytes: Int64, at now: Instant) {
      let elapsed = at.duration(to: now).inMicroseconds
      guard elapsed >= 200_000 else { return }
      let latest = Int64(exactly: (Double(max(0, bytes - self.bytes)) / Double(elapsed) * 1e6).rounded())
      guard let latest else { return }
      rate = rate.map { $0 / 2 + latest / 2 } ?? latest
      (self.bytes, at) = (bytes, now)
    }
  }
}
