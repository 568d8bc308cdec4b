extension Wire {
  /// What an order asks a worker for.
  public enum OrderKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// To move a file: `id`, `transfer`.
    case transfer
    /// To stop moving a file and to keep what is there of it: `id`, `reason`.
    case stop
    /// To stop moving a file and to remove what is there of it: `id`, `transfer`.
    case discard
    /// To move no more bytes in a second, all files together: `max_rate`.
    case rate
    /// To end: nothing is left to be done.
    case finish
  }

  /// What must be known of a transfer to go on where it was.
  public struct Resume: Codable, Hashable, Sendable {
    /// The URL after redirects.
    public let url: String?
    /// The validator of the file on the server, with its quotes.
    public let etag: String?
    /// The date of the file on the server, as the server wrote it.
    public let lastModified: String?
    /// The date of that answer, as the server wrote it.
    public let date: String?
    /// How long the file is, in bytes.
    public let total: Int64?
    /// How many bytes of it have outlived a loss of power.
    public let durable: Int64
    /// The kernel's id of the boot in which they were written.
    public let boot: String
    /// Where an upload by tus goes on.
    public let tusURL: String?
    /// What tells the file that they are in from every other.
    public let partMark: Int64?

    /// Makes it of its parts.
    public init(
      url: String? = nil, etag: String? = nil, lastModified: String? = nil, date: String? = nil, total: Int64? = nil,
      durable: Int64, boot: String, tusURL: String? = nil, partMark: Int64? = nil
    ) {
      self.url = url
      self.etag = etag
      self.lastModified = lastModified
      self.date = date
      self.total = total
      self.durable = durable
      self.boot = boot
      self.tusURL = tusURL
      self.partMark = partMark
    }

    private enum CodingKeys: String, CodingKey {
      case url
      case etag
      case lastModified = "last_modified"
      case date
      case total
      case durable
      case boot
      case tusURL = "tus_url"
      case partMark = "part_mark"
    }
  }

  /// All that a worker must know to move a file.
  public struct Assignment: Codable, Hashable, Sendable {
    /// Which way.
    public let direction: Direction
    /// The whole URL, with its secrets.
    public let url: String
    /// The file on this machine.
    public let path: String
    /// How an upload is sent, `PUT` or `POST`.
    public let method: String?
    /// Whether an upload goes by tus.
    public let tus: Bool?
    /// What the SHA-256 is to be, 64 hexadecimal digits.
    public let sha256: String?
    /// How long the file is to be, in bytes.
    public let length: Int64?
    /// How fast it may be, in bytes a second.
    public let maxRate: Int64?
    /// A file with more headers.
    public let headersFile: String?
    /// A file with user and password.
    public let credentialFile: String?
    /// Whether user and password are looked up in `.netrc`.
    public let netrc: Bool?
    /// How long it may be without progress before the try ends, microseconds.
    public let stallMicroseconds: Int64
    /// What was reported when it began last; absent for one that never did.
    public let resume: Resume?

    /// Makes it of its parts.
    public init(
      direction: Direction, url: String, path: String, method: String? = nil, tus: Bool? = nil, sha256: String? = nil,
      length: Int64? = nil, maxRate: Int64? = nil, headersFile: String? = nil, credentialFile: String? = nil,
      netrc: Bool? = nil, stallMicroseconds: Int64, resume: Resume? = nil
    ) {
      self.direction = direction
      self.url = url
      self.path = path
      self.method = method
      self.tus = tus
      self.sha256 = sha256
      self.length = length
      self.maxRate = maxRate
      self.headersFile = headersFile
      self.credentialFile = credentialFile
      self.netrc = netrc
      self.stallMicroseconds = stallMicroseconds
      self.resume = resume
    }

    private enum CodingKeys: String, CodingKey {
      case direction
      case url
      case path
      case method
      case tus
      case sha256
      case length
      case maxRate = "max_rate"
      case headersFile = "headers_file"
      case credentialFile = "credential_file"
      case netrc
      case stallMicroseconds = "stall_us"
      case resume
    }
  }

  /// What a worker is to do.
  public struct Order: Codable, Hashable, Sendable {
    /// What it is.
    public let kind: OrderKind
    /// The number of the transfer; with `transfer`, `stop` and `discard`.
    public let id: Int64?
    /// Why it is to stop; with `stop`.
    public let reason: String?
    /// How many bytes the whole worker may move in a second, 0 for no bound; with `rate`.
    public let maxRate: Int64?
    /// What is to be moved; with `transfer` and `discard`.
    public let transfer: Assignment?

    /// Makes it of its parts.
    public init(
      kind: OrderKind, id: Int64? = nil, reason: String? = nil, maxRate: Int64? = nil, transfer: Assignment? = nil
    ) {
      self.kind = kind
      self.id = id
      self.reason = reason
      self.maxRate = maxRate
      self.transfer = transfer
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case id
      case reason
      case maxRate = "max_rate"
      case transfer
    }
  }
}
