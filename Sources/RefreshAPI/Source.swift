extension Wire {
  /// Where pushes come from.
  public struct Source: Codable, Hashable, Sendable {
    /// Its name in `push.toml`.
    public let name: String
    /// What it is.
    public let kind: SourceKind
    /// Whether it is connected.
    public let isConnected: Bool
    /// Since when it is, or is not, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// Why it is not, in one line without secrets; absent while it is, and while nobody has tried.
    public let problem: String?
    /// When the bridge tries again, microseconds of the wall clock; absent when that does not hang on time.
    public let retryMicroseconds: Int64?
    /// How many messages it brought since the bridge started.
    public let received: Int
    /// How many of them were refused for ever.
    public let refused: Int

    /// Makes it of its parts.
    public init(
      name: String, kind: SourceKind, isConnected: Bool, sinceMicroseconds: Int64, problem: String? = nil,
      retryMicroseconds: Int64? = nil, received: Int, refused: Int
    ) {
      self.name = name
      self.kind = kind
      self.isConnected = isConnected
      self.sinceMicroseconds = sinceMicroseconds
      self.problem = problem
      self.retryMicroseconds = retryMicroseconds
      self.received = received
      self.refused = refused
    }

    private enum CodingKeys: String, CodingKey {
      case name
      case kind
      case isConnected = "is_connected"
      case sinceMicroseconds = "since_us"
      case problem
      case retryMicroseconds = "retry_us"
      case received
      case refused
    }
  }

  /// The push bridge.
  public struct PushState: Codable, Hashable, Sendable {
    /// Since when it is connected to the daemon, microseconds of the wall clock.
    public let sinceMicroseconds: Int64
    /// Whether the network is there that the bridge may use, and the machine is not going to sleep.
    public let mayConnect: Bool
    /// Its sources, in the order of `push.toml`.
    public let sources: [Source]

    /// Makes it of its parts.
    public init(sinceMicroseconds: Int64, mayConnect: Bool, sources: [Source]) {
      self.sinceMicroseconds = sinceMicroseconds
      self.mayConnect = mayConnect
      self.sources = sources
    }

    private enum CodingKeys: String, CodingKey {
      case sinceMicroseconds = "since_us"
      case mayConnect = "may_connect"
      case sources
    }
  }
}
