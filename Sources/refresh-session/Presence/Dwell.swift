/// Debounces whether an app is in front: it must be in front for a moment, and away for a moment.
///
/// Alt-Tab passes ten windows in a second, and a compositor may remove the focus for a millisecond.
struct Dwell: Hashable, Sendable {
  /// The time in front until an app counts as in front, and the time away until it does not, in microseconds.
  static let (begins, ends): (Int64, Int64) = (500_000, 300_000)

  /// Whether the app counts as in front.
  private(set) var isFront = false
  /// The time at which that changes by itself, boot clock; nil if it does not.
  private(set) var changesAt: Int64?

  /// Applies whether the app is in front, and whether somebody is there to see it, at an instant of the boot clock.
  mutating func update(isShown: Bool, isThere: Bool, at now: Int64) {
    guard isThere else {
      (isFront, changesAt) = (false, nil)
      return
    }
    guard isShown != isFront else { return changesAt = nil }
    let end = changesAt ?? now + (isShown ? Self.begins : Self.ends)
    guard end <= now else { return changesAt = end }
    (isFront, changesAt) = (isShown, nil)
  }
}
