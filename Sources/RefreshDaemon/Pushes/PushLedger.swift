import RefreshAPI
import RefreshEngine
import RefreshStore
import Systemd

/// The pushes in the engine, and the memory that they take.
struct PushLedger {
  /// The greatest number that a push ever had.
  private var last: UInt64
  private var kept: [PushID: Kept] = [:]
  /// The bytes of payloads in the engine.
  private var bytesKept = 0
  /// The bytes of payloads that are being saved for the engine.
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
    /// The alert for the user, once its refresh has ended.
    let alert: PushPayload.Alert?
    fileprivate let bytes: Int
  }

  /// The most bytes of waiting payloads of all apps together, because they are in the daemon's memory.
  static let mostBytes = 16 << 20
  /// How many of these bytes the apps of each user may have even if others have taken all.
  static let reservedBytes = 1 << 20

  /// The apps with pushes, also apps without a file.
  var apps: Set<AppID> { Set(kept.values.map(\.app)) }

  /// Applies the engine's change of a push, and returns the push before the change.
  @discardableResult
  mutating func note(_ change: PushChange, of id: PushID) -> Kept? {
    let before = kept.removeValue(forKey: id)
    bytesKept -= before?.bytes ?? 0
    if case .kept(let app, let push) = change {
      let now = Kept(
        app: app, wasDelivered: push.attempts > 0, alert: before?.alert ?? Self.alert(of: push),
        bytes: push.payload.utf8.count)
      bytesKept += now.bytes
      kept[id] = now
    }
    return before
  }

  /// The alert in the payload of a push; a stored payload was checked before, so it has no mistake.
  private static func alert(of push: Push) -> PushPayload.Alert? {
    do throws(AppInterface.InvalidPayload) { return try PushPayload(push.payload).alert } catch { return nil }
  }

  /// The bytes of some apps' payloads in the engine.
  func bytes(of isOwn: (AppID) -> Bool) -> Int { kept.values.reduce(0) { isOwn($1.app) ? $0 + $1.bytes : $0 } }

  /// Whether there is room for more bytes of payloads.
  func hasRoom(for bytes: Int) -> Bool { bytes == 0 || bytesKept + bytesArriving + bytes <= Self.mostBytes }

  /// Reserves bytes for payloads until ``release(_:)``; false if there is no room.
  ///
  /// `own` is how many bytes the user of these apps has already.
  mutating func reserve(_ bytes: Int, own: Int = mostBytes) -> Bool {
    guard hasRoom(for: bytes) || own + bytes <= Self.reservedBytes else { return false }
    bytesArriving += bytes
    return true
  }

  /// Gives back reserved bytes: the engine has the payloads now, or they were refused.
  mutating func release(_ bytes: Int) { bytesArriving -= bytes }

  /// The next number, greater than any before.
  mutating func makeID() -> PushID {
    last += 1
    return PushID(last)
  }
}

// Journal entries about pushes; of a payload they contain only the content id.

extension DaemonJournal {
  func accepted(_ contentID: String?, of app: AppID, _ fate: Wire.PushFate, waiting: Int) {
    let what =
      switch fate {
      case .queued: waiting == 1 ? "is accepted" : "is accepted; \(waiting) wait"
      case .merged: "is accepted and replaces a waiting one"
      case .told: "wakes nobody; attached processes received it"
      case .known: "was accepted before"
      }
    write("\(app): a push\(Self.about(contentID)) \(what)", .info, .pushTaken, fields(app, contentID))
  }

  func dropped(_ push: DroppedPush) {
    write(
      "\(push.app): a push\(Self.about(push.contentID)) is dropped: more than \(Engine.mostPushes) are "
        + "waiting", .warning, .pushDropped, fields(push.app, push.contentID))
  }

  func forgot(_ id: PushID, _ problem: StoreError) {
    write("cannot deliver push \(id), which is now deleted; send it again: \(problem)", .error, nil, [])
  }

  private static func about(_ contentID: String?) -> String { contentID.map { " with content \($0)" } ?? "" }

  private func fields(_ app: AppID, _ contentID: String?) -> [JournalEntry.Field] {
    [JournalEntry.Field("REFRESH_APP", app.description)]
      + (contentID.map { [JournalEntry.Field("REFRESH_CONTENT_ID", $0)] } ?? [])
  }
}
