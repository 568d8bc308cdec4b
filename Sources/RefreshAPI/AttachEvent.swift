extension Wire {
  /// Something that an attached app is told.
  public struct AttachEvent: Codable, Hashable, Sendable {
    /// What it is.
    ///
    /// Pass over a kind that you do not know, and take a value that you do not know elsewhere as absent.
    /// - `attached`: the connection is attached from now on.
    /// - `perform`: refresh now, and tell the outcome with Complete and the token by the deadline.
    /// - `expiring`: the refresh that you perform is near its deadline and will be stopped there. It comes 5 s before,
    ///   not at all if the deadline of the app's file is 5 s or less, and with a nearer deadline when the machine goes to
    ///   sleep.
    /// - `cancelled`: stop the refresh that you perform, and call Complete once you have, within the grace of the app's
    ///   file. It counts as failed whatever you say, and the answer is AlreadyCompleted.
    /// - `started`: another than you, such as the command in the app's file, has begun to refresh the app.
    /// - `ended`: a refresh of the app has ended, also one that you performed.
    /// - `phase_changed`: the app is in another phase.
    /// - `transfer_ended`: a transfer of the app has ended, well or badly.
    /// - `push`: a push for the app that wakes nobody, because it has no `content-available`.
    /// - `push_dropped`: a push that waited was dropped and wakes nobody, because too many came after it.
    public let kind: String
    /// The phase that the app is in; with `attached` and `phase_changed`.
    public let phase: Phase?
    /// The refresh, such as `12-345`: the daemon's start counter, the number of the refresh within it.
    ///
    /// With `perform`, `expiring`, `cancelled`, `started` and `ended`.
    public let refresh: String?
    /// Why it starts; with `perform` and `started`.
    public let trigger: Trigger?
    /// What Complete is called with; with `perform`.
    public let token: String?
    /// What a command reads on standard input; with `perform`, and with `push`.
    ///
    /// For the trigger `transfer` a line of JSON for each transfer of the session, for `push` the push's JSON.
    public let payload: String?
    /// The session whose transfers have ended; with `perform` for the trigger `transfer`, and with `transfer_ended`.
    public let session: String?
    /// When the refresh is stopped, microseconds of the wall clock; with `perform` and `expiring`.
    public let deadlineMicroseconds: Int64?
    /// Why it is to stop; with `cancelled`.
    public let reason: StopReason?
    /// How it ended; with `ended`.
    public let outcome: Outcome?
    /// Why it failed, in words; with `ended` and the outcome `failed`.
    public let cause: String?
    /// What its tasks said, absent if nothing, with `ended`; why, with `push_dropped`.
    public let message: String?
    /// The URL of the transfer, without its secrets; with `transfer_ended`.
    public let url: String?
    /// The file of the transfer; with `transfer_ended`.
    public let path: String?
    /// How the transfer ended; with `transfer_ended`.
    public let result: TransferResult?
    /// The `content-id` of the push, absent if it has none.
    ///
    /// With `perform` for the trigger `push`, with `push` and with `push_dropped`.
    public let contentID: String?

    /// Makes it of its parts.
    public init(
      kind: String, phase: Phase? = nil, refresh: String? = nil, trigger: Trigger? = nil, token: String? = nil,
      payload: String? = nil, session: String? = nil, deadlineMicroseconds: Int64? = nil, reason: StopReason? = nil,
      outcome: Outcome? = nil, cause: String? = nil, message: String? = nil, url: String? = nil, path: String? = nil,
      result: TransferResult? = nil, contentID: String? = nil
    ) {
      self.kind = kind
      self.phase = phase
      self.refresh = refresh
      self.trigger = trigger
      self.token = token
      self.payload = payload
      self.session = session
      self.deadlineMicroseconds = deadlineMicroseconds
      self.reason = reason
      self.outcome = outcome
      self.cause = cause
      self.message = message
      self.url = url
      self.path = path
      self.result = result
      self.contentID = contentID
    }

    /// Reads it, also if it is of a later version: what this one has no word for is nil, and the rest is as it says.
    ///
    /// Who passed over the whole event would miss that it is to refresh, or to stop.
    public init(from decoder: any Decoder) throws {
      let event = try decoder.container(keyedBy: CodingKeys.self)
      func known<Word: RawRepresentable<String>>(_ key: CodingKeys) throws -> Word? {
        try event.decodeIfPresent(String.self, forKey: key).flatMap(Word.init)
      }
      kind = try event.decode(String.self, forKey: .kind)
      phase = try known(.phase)
      refresh = try event.decodeIfPresent(String.self, forKey: .refresh)
      trigger = try known(.trigger)
      token = try event.decodeIfPresent(String.self, forKey: .token)
      payload = try event.decodeIfPresent(String.self, forKey: .payload)
      session = try event.decodeIfPresent(String.self, forKey: .session)
      deadlineMicroseconds = try event.decodeIfPresent(Int64.self, forKey: .deadlineMicroseconds)
      reason = try known(.reason)
      outcome = try known(.outcome)
      cause = try event.decodeIfPresent(String.self, forKey: .cause)
      message = try event.decodeIfPresent(String.self, forKey: .message)
      url = try event.decodeIfPresent(String.self, forKey: .url)
      path = try event.decodeIfPresent(String.self, forKey: .path)
      result = try known(.result)
      contentID = try event.decodeIfPresent(String.self, forKey: .contentID)
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case phase
      case refresh
      case trigger
      case token
      case payload
      case session
      case deadlineMicroseconds = "deadline_us"
      case reason
      case outcome
      case cause
      case message
      case url
      case path
      case result
      case contentID = "content_id"
    }
  }
}
