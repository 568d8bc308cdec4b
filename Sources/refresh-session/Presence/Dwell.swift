/// Whether an app counts as in front: it must be there for a moment, and gone for a moment.
///
/// Alt-Tab passes by ten windows in a second, and a compositor may take the focus away for a millisecond.
struct Dwell: Hashable, Sendable {
  /// How long an app is in front before that counts, and how long it is not before that counts, microseconds.
  static let (begins, ends): (Int64, Int64) = (500_000, 300_000)

  /// Whether the app counts as in front.
  private(set) var isFront = false
  /// When that changes if nothing else happens, boot clock; nil while it does not.
  private(set) var changesAt: Int64?

  /// Takes whether the app is in front at an instant, boot clock, and whether somebody is there to see it.
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
