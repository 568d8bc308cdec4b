import RefreshEngine

/// What is known of pushes beside what the engine knows.
struct Pushes {
  /// The greatest number that a push ever had.
  private var last: UInt64
  /// Whether a push or a bridge has come since the start, or one was left: what urgencies ask for is watched from then
  /// on.
  var isInUse: Bool
  /// What the engine has, and what of it may be counted.
  private(set) var kept: [PushID: Kept] = [:]
  /// The bytes of payloads that the engine has.
  private var bytesKept = 0
  /// The bytes of payloads that are being saved for it.
  private var bytesArriving = 0
  /// The bridge, or what speaks for it.
  var bridge = Bridge()

  /// Takes up what was saved.
  init(_ stored: [AppID: [Push]], last: UInt64) {
    self.last = last
    isInUse = !stored.isEmpty
    for (app, pushes) in stored {
      for push in pushes { note(.kept(app, push), of: push.id) }
    }
  }

  /// A push that the engine has.
  struct Kept {
    let app: AppID
    /// Whether a refresh was told it.
    let isTold: Bool
    fileprivate let bytes: Int
  }

  /// The most bytes of payloads that may wait over all apps, 16 MiB: the daemon has them in its memory.
  static let mostBytes = 16 << 20

  /// The apps that have pushes, also those without a file.
  var apps: Set<AppID> { Set(kept.values.map(\.app)) }

  /// Takes note of what the engine made of a push; gives what was known of it before.
  @discardableResult
  mutating func note(_ change: PushChange, of id: PushID) -> Kept? {
    let before = kept.removeValue(forKey: id)
    bytesKept -= before?.bytes ?? 0
    if case .kept(let app, let push) = change {
      let now = Kept(app: app, isTold: push.attempts > 0, bytes: push.payload.utf8.count)
      bytesKept += now.bytes
      kept[id] = now
    }
    return before
  }

  /// Makes room for payloads until ``leave(_:)``; false if there is not enough.
  mutating func reserve(_ bytes: Int) -> Bool {
    guard bytes == 0 || bytesKept + bytesArriving + bytes <= Self.mostBytes else { return false }
    bytesArriving += bytes
    return true
  }

  /// Gives back what ``reserve(_:)`` has made room for: the payloads are with the engine now, or are not taken.
  mutating func leave(_ bytes: Int) { bytesArriving -= bytes }

  /// The number of one more, greater than any before.
  mutating func makeID() -> PushID {
    last += 1
    return PushID(last)
  }
}
