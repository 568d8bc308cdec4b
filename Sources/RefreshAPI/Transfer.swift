extension Wire {
  /// A transfer, as it is now.
  public struct Transfer: Codable, Hashable, Sendable {
    /// Its number, which no other one ever has.
    public let id: Int64
    /// The id of its app.
    public let app: String
    /// The session that it belongs to.
    public let session: String
    /// Which way it goes.
    public let direction: Direction
    /// Its URL without user and password; what it asks for after `?` is shown as `…`.
    public let url: String
    /// The file on this machine.
    public let path: String
    /// What it is, in the words of who enqueued it.
    public let description: String?
    /// Where it is.
    public let state: TransferState
    /// What keeps it from being tried; absent if nothing does.
    public let holds: [Hold]?
    /// When it is tried next, microseconds of the wall clock; absent when that does not hang on time.
    public let untilMicroseconds: Int64?
    /// How many bytes of the file are moved.
    public let bytes: Int64
    /// How many there are in all, once that is known.
    public let total: Int64?
    /// How many bytes it moves in a second at present; only while it is transferring.
    public let rate: Int64?
    /// How often it was begun.
    public let attempts: Int64
    /// The last trouble, in one line.
    public let message: String?
    /// How it ended; with `ended` only.
    public let result: TransferResult?
    /// The SHA-256 of the file, where it was checked.
    public let sha256: String?
    /// Which go first: those with the higher one.
    public let priority: Int64
    /// What it asks of the network.
    public let network: NetworkConstraint
    /// When it was enqueued, microseconds of the wall clock.
    public let enqueuedMicroseconds: Int64
    /// When it ended, microseconds of the wall clock; with `ended` only.
    public let endedMicroseconds: Int64?

    /// Makes it of its parts.
    public init(
      id: Int64, app: String, session: String, direction: Direction, url: String, path: String,
      description: String? = nil, state: TransferState, holds: [Hold]? = nil, untilMicroseconds: Int64? = nil,
      bytes: Int64, total: Int64? = nil, rate: Int64? = nil, attempts: Int64, message: String? = nil,
      result: TransferResult? = nil, sha256: String? = nil, priority: Int64, network: NetworkConstraint,
      enqueuedMicroseconds: Int64, endedMicroseconds: Int64? = nil
    ) {
      self.id = id
      self.app = app
      self.session = session
      self.direction = direction
      self.url = url
      self.path = path
      self.description = description
      self.state = state
      self.holds = holds
      self.untilMicroseconds = untilMicroseconds
      self.bytes = bytes
      self.total = total
      self.rate = rate
      self.attempts = attempts
      self.message = message
      self.result = result
      self.sha256 = sha256
      self.priority = priority
      self.network = network
      self.enqueuedMicroseconds = enqueuedMicroseconds
      self.endedMicroseconds = endedMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case app
      case session
      case direction
      case url
      case path
      case description
      case state
      case holds
      case untilMicroseconds = "until_us"
      case bytes
      case total
      case rate
      case attempts
      case message
      case result
      case sha256
      case priority
      case network
      case enqueuedMicroseconds = "enqueued_us"
      case endedMicroseconds = "ended_us"
    }
  }
}
