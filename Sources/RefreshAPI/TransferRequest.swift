extension Wire {
  /// One file that is to be moved.
  public struct Request: Codable, Hashable, Sendable {
    /// Where from or to, by `http` or `https`.
    ///
    /// What it has of secrets is kept in the store and shown nowhere.
    public let url: String
    /// The file on this machine: a whole path without `.`, `..` and symbolic links.
    ///
    /// A download appears there when it is whole; until then it is `PATH.part`.
    public let path: String
    /// Which way; `download` if absent.
    public let direction: Direction?
    /// The session that it belongs to; `default` if absent.
    ///
    /// When the last transfer of a session has ended, the app is woken.
    public let session: String?
    /// What it is, for people and for the app.
    public let description: String?
    /// What the SHA-256 of the whole file is to be, 64 hexadecimal digits.
    public let sha256: String?
    /// How long the whole file is to be, in bytes.
    public let length: Int64?
    /// What it asks of the network; `unmetered` if absent.
    public let network: NetworkConstraint?
    /// Which go first, from -100 to 100: those with the higher one; 0 if absent.
    public let priority: Int64?
    /// How fast it may be, in bytes a second; no bound if absent.
    public let maxRate: Int64?
    /// How an upload is sent, `PUT` or `POST`; `PUT` if absent.
    ///
    /// `POST` is never repeated when the answer is lost.
    public let method: String?
    /// Whether an upload goes by the protocol tus 1.0.0, which can go on where it was; false if absent.
    public let tus: Bool?
    /// A file of the owner with mode 0600 that has more headers, `Name: value` each line.
    public let headersFile: String?
    /// A file of the owner with mode 0600 that has `user:password` in its first line.
    public let credentialFile: String?
    /// Whether user and password are looked up in the owner's `.netrc`; false if absent.
    public let netrc: Bool?
    /// What the owner's desktop is to be told when the last transfer of the session has ended.
    public let notify: String?

    /// Makes it of its parts.
    public init(
      url: String, path: String, direction: Direction? = nil, session: String? = nil, description: String? = nil,
      sha256: String? = nil, length: Int64? = nil, network: NetworkConstraint? = nil, priority: Int64? = nil,
      maxRate: Int64? = nil, method: String? = nil, tus: Bool? = nil, headersFile: String? = nil,
      credentialFile: String? = nil, netrc: Bool? = nil, notify: String? = nil
    ) {
      self.url = url
      self.path = path
      self.direction = direction
      self.session = session
      self.description = description
      self.sha256 = sha256
      self.length = length
      self.network = network
      self.priority = priority
      self.maxRate = maxRate
      self.method = method
      self.tus = tus
      self.headersFile = headersFile
      self.credentialFile = credentialFile
      self.netrc = netrc
      self.notify = notify
    }

    private enum CodingKeys: String, CodingKey {
      case url
      case path
      case direction
      case session
      case description
      case sha256
      case length
      case network
      case priority
      case maxRate = "max_rate"
      case method
      case tus
      case headersFile = "headers_file"
      case credentialFile = "credential_file"
      case netrc
      case notify
    }
  }
}
