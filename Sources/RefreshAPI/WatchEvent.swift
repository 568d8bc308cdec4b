extension Wire {
  /// What a WatchEvent tells.
  public enum WatchKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The call is in force: what happens from now on is told.
    case watching
    /// A refresh starts.
    case started
    /// A refresh has ended.
    case ended
    /// An app is due and something holds it.
    case held
    /// What held an app does so no more.
    case released
    /// An app is in another phase.
    case phaseChanged = "phase_changed"
    /// A condition of the machine is another one, or is known now.
    case conditionChanged = "condition_changed"
    /// A person has disabled or enabled an app, or a pause of all apps has begun or ended.
    case switchChanged = "switch_changed"
    /// The data of an app has become older than its file wants.
    case stale
    /// A process of an app has attached and performs its refreshes.
    case attached
    /// No process of an app performs its refreshes any more.
    case detached
    /// A push for an app has come.
    case push
  }

  /// Something that has happened.
  public struct WatchEvent: Codable, Hashable, Sendable {
    /// What it is.
    public let kind: WatchKind
    /// When, microseconds of the wall clock.
    public let atMicroseconds: Int64
    /// The id of the app; absent for what concerns all.
    public let app: String?
    /// The id of the refresh; with `started`.
    public let id: String?
    /// Why it starts; with `started`.
    public let trigger: Trigger?
    /// All about the refresh; with `ended`.
    public let refresh: Refresh?
    /// What holds the app; with `held`.
    public let holds: [Hold]?
    /// From when until when it was held, and by what; with `released`.
    public let wait: Wait?
    /// The phase that the app is in now; with `phase_changed`.
    public let phase: Phase?
    /// Which condition: a field of Conditions; with `condition_changed`.
    public let condition: String?
    /// The condition as it is now; with `condition_changed`.
    public let state: Condition?
    /// Whether the app is disabled now; with `switch_changed` of an app.
    public let isDisabled: Bool?
    /// The pause of all apps; with `switch_changed` of all, absent when it has ended.
    public let pause: PauseState?
    /// How old the data is, from when on; microseconds of the wall clock; with `stale`.
    public let sinceMicroseconds: Int64?
    /// The `content-id` of the push, absent if it has none; with `push`.
    public let contentID: String?
    /// What has become of it; with `push`.
    public let fate: PushFate?

    /// Makes it of its parts.
    public init(
      kind: WatchKind, atMicroseconds: Int64, app: String? = nil, id: String? = nil, trigger: Trigger? = nil,
      refresh: Refresh? = nil, holds: [Hold]? = nil, wait: Wait? = nil, phase: Phase? = nil, condition: String? = nil,
      state: Condition? = nil, isDisabled: Bool? = nil, pause: PauseState? = nil, sinceMicroseconds: Int64? = nil,
      contentID: String? = nil, fate: PushFate? = nil
    ) {
      self.kind = kind
      self.atMicroseconds = atMicroseconds
      self.app = app
      self.id = id
      self.trigger = trigger
      self.refresh = refresh
      self.holds = holds
      self.wait = wait
      self.phase = phase
      self.condition = condition
      self.state = state
      self.isDisabled = isDisabled
      self.pause = pause
      self.sinceMicroseconds = sinceMicroseconds
      self.contentID = contentID
      self.fate = fate
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case atMicroseconds = "at_us"
      case app
      case id
      case trigger
      case refresh
      case holds
      case wait
      case phase
      case condition
      case state
      case isDisabled = "is_disabled"
      case pause
      case sinceMicroseconds = "since_us"
      case contentID = "content_id"
      case fate
    }
  }
}
