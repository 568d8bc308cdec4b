import RefreshEngine

/// The pushes that the engine has, and the bytes that they take.
struct PushLedger {
  /// The greatest number that a push ever had.
  private var last: UInt64
  private var kept: [PushID: Kept] = [:]
  /// The bytes of payloads that the engine has.
  private var bytesKept = 0
  /// The bytes of payloads that are being saved for it.
  private var bytesArriving = 0

  /// Begins with the stored pushes.
  init(_ stored: [AppID: [Push]], last: UInt64) {
    self.last = last
    for (app, pushes) in stored {
      for push in pushes { note(.kept(app, push), of: push.id) }
    }
  }

  struct Kept {
    let app: AppID
    /// Whether a refresh has reported the push to the app.
    let wasDelivered: Bool
    fileprivate let bytes: Int
  }

  /// The most bytes of payloads that may wait, of all apps together: they are in the daemon's memory.
  static let mostBytes = 16 << 20

  /// The apps that have pushes, also those without a file.
  var apps: Set<AppID> { Set(kept.values.map(\.app)) }

  /// Applies the engine's change of a push, and gives the push as it was before.
  @discardableResult
  mutating func note(_ change: PushChange, of id: PushID) -> Kept? {
    let before = kept.removeValue(forKey: id)
    bytesKept -= before?.bytes ?? 0
    if case .kept(let app, let push) = change {
      let now = Kept(app: app, wasDelivered: push.attempts > 0, bytes: push.payload.utf8.count)
      bytesKept += now.bytes
      kept[id] = now
    }
    return before
  }

  /// Reserves bytes for payloads until ``release(_:)``; false if there are not enough.
  mutating func reserve(_ bytes: Int) -> Bool {
    guard bytes == 0 || bytesKept + bytesArriving + bytes <= Self.mostBytes else { return false }
    bytesArriving += bytes
    return true
  }

  /// Gives back what ``reserve(_:)`` reserved: the engine has the payloads now, or they were refused.
  mutating func release(_ bytes: Int) { bytesArriving -= bytes }

  /// The number of one more, greater than any before.
  mutating func makeID() -> PushID {
    last += 1
    return PushID(last)
  }
}
