import RefreshEngine

/// What is known of pushes beside what the engine knows.
struct Pushes {
  /// The greatest number that a push ever had.
  private var last: UInt64
  /// Whether a push or a bridge has come since the start, or one was left: what urgencies ask for is watched from then
  /// on.
  var isInUse: Bool
  /// The bridge, or what speaks for it.
  var bridge = Bridge()

  /// Takes up what was saved.
  init(_ stored: [AppID: [Push]], last: UInt64) {
    self.last = last
    isInUse = !stored.isEmpty
  }

  /// The number of one more, greater than any before.
  mutating func makeID() -> PushID {
    last += 1
    return PushID(last)
  }
}
