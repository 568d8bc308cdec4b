/// The number of a push, never used for another push.
public struct PushID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number, from 1 in the order in which pushes came.
  public let number: UInt64

  /// Names a push by its number.
  public init(_ number: UInt64) { self.number = number }

  /// The number as text.
  public var description: String { "\(number)" }

  /// Order of arrival.
  public static func < (left: PushID, right: PushID) -> Bool { left.number < right.number }
}

/// How much a push is worth to the machine.
public enum Urgency: String, Hashable, Sendable, CaseIterable, Comparable {
  /// On mains, and on a network that is not metered.
  case veryLow = "very-low"
  /// On mains, or on a network that is not metered.
  case low
  /// Unless the battery is low.
  case normal
  /// Always.
  case high

  /// Order of urgency.
  public static func < (left: Urgency, right: Urgency) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .veryLow: 0
    case .low: 1
    case .normal: 2
    case .high: 3
    }
  }
}

/// A payload that wakes an app, from its acceptance until its delivery.
public struct Push: Hashable, Sendable {
  /// Its number.
  public var id: PushID
  /// The text for the app, as it came.
  public var payload: String
  /// The subject, in the sender's word; nil if the sender names none.
  public var contentID: String?
  /// How much it is worth to the machine; the highest urgency of the merged pushes.
  public var urgency: Urgency
  /// When the payload came, boot clock.
  public var arrivedAt: Instant
  /// The earliest delivery, boot clock: later after a refresh that could not deliver it.
  public var earliest: Instant
  /// How many refreshes have delivered it.
  public var attempts: Int32 = 0
  /// How many older payloads it has replaced.
  public var merged: Int32 = 0

  /// Makes a push that has just come; `now` is the boot clock's time.
  public init(id: PushID, payload: String, contentID: String?, urgency: Urgency, at now: Instant) {
    self.id = id
    self.payload = payload
    self.contentID = contentID
    self.urgency = urgency
    arrivedAt = now
    earliest = now
  }

  /// The push with its instants changed, as the store changes them after a reboot.
  public func moved(_ change: (Instant) -> Instant) -> Push {
    var push = self
    (push.arrivedAt, push.earliest) = (change(arrivedAt), change(earliest))
    return push
  }

  /// Whether a newer push replaces this push: both have the same content id or, without ids, the same payload.
  func isReplaced(by newer: Push) -> Bool {
    contentID == newer.contentID && (contentID != nil || payload == newer.payload)
  }
}

/// How many pushes may wake an app.
public struct PushLimit: Hashable, Sendable {
  /// How many an hour in the long run; 3 by default, the bound that Apple names to senders.
  public var perHour: Int
  /// How many at once, before the hourly bound counts; 5 by default.
  public var burst: Int

  /// Makes a limit; each at least 1.
  public init(perHour: Int = 3, burst: Int = 5) {
    self.perHour = perHour
    self.burst = burst
  }

  /// How many of an urgency may wake the app in the window: the last one of several is kept for an urgent push.
  public func most(for urgency: Urgency) -> Int { urgency == .high ? burst : max(1, burst - 1) }

  /// The length of the window in which `burst` may wake the app: 100 min for the defaults.
  public var span: Duration { Duration.hours(1) * burst / max(1, perHour) }
}

/// The change of a push to be saved.
public enum PushChange: Hashable, Sendable {
  /// It has this value now.
  case kept(AppID, Push)
  /// It was delivered or dropped; the store deletes it.
  case gone
  /// It was merged into an older push; the store deletes it.
  case merged
}

/// A push that is never delivered, because newer ones took all the room: a line of the history.
public struct DroppedPush: Hashable, Sendable {
  /// Its number.
  public var id: PushID
  /// Its app.
  public var app: AppID
  /// The subject; nil when the sender named none.
  public var contentID: String?
  /// When it came, boot clock.
  public var arrivedAt: Instant
  /// When it was dropped, boot clock.
  public var droppedAt: Instant
  /// How many older payloads it had replaced.
  public var merged: Int32

  /// Makes a record from its parts.
  public init(id: PushID, app: AppID, contentID: String?, arrivedAt: Instant, droppedAt: Instant, merged: Int32) {
    self.id = id
    self.app = app
    self.contentID = contentID
    self.arrivedAt = arrivedAt
    self.droppedAt = droppedAt
    self.merged = merged
  }
}

/// The push that a refresh delivered, for the history.
public struct DeliveredPush: Hashable, Sendable {
  /// The subject; nil when the sender named none.
  public var contentID: String?
  /// How many older payloads it had replaced.
  public var merged: Int32

  /// Makes a delivered push from its parts.
  public init(contentID: String?, merged: Int32) {
    self.contentID = contentID
    self.merged = merged
  }
}

/// A push that is not delivered yet, and why not.
public struct WaitingPush: Hashable, Sendable {
  /// The wait of a push, in addition to the holds of the app.
  public enum Wait: Hashable, Sendable {
    /// Nothing.
    case ready
    /// Earlier pushes.
    case turn
    /// The app has used up its push limit until this instant, boot clock.
    case limit(until: Instant)
    /// Its last delivery failed, and is tried again at this instant, boot clock.
    case retry(until: Instant)
    /// The network or the power supply is not what its urgency asks for.
    case urgency
    /// The user has ended the app; its next start lifts it.
    case terminated
  }

  /// The push.
  public var push: Push
  /// The wait.
  public var wait: Wait
}
