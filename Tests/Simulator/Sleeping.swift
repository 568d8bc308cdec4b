import RefreshEngine

/// Announced sleep, and its disturbances.
extension World {
  /// Makes the user return in the middle of long work, now and then.
  mutating func disturb() {
    guard healedAt == nil, dice.happens(40) else { return }
    expect(.idle(false), in: dice.duration(.zero ... .minutes(1)))
    expect(.idle(true), in: dice.duration(.minutes(1) ... .hours(2)))
  }

  mutating func fallAsleep(for length: Duration?) {
    // The daemon may be a new one, which got no announcement.
    if book.isSuspending { observe(.sleeps) }
    guard let length else { return handle(.resumed) }
    suspend(for: length)
  }
}
