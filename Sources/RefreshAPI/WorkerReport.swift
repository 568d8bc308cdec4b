extension Wire {
  /// What a report tells.
  public enum ReportKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// What must be known to go on later, first before any byte counts, and again at each checkpoint: `resume`.
    case began
    /// How far it is: `bytes`, `total`.
    case progress
    /// All bytes are there, and are being checked and put into place: `bytes`.
    case fetched
    /// It is over, or this try of it is: `end`.
    case ended
  }

  /// How an order about a transfer came out.
  public enum ReportEnd: String, Codable, Hashable, Sendable, CaseIterable {
    /// The file is there, whole and checked.
    case done
    /// It cannot be done: `message`.
    case failed
    /// It may go better later: `message`, `retry_after_us`.
    case retry
    /// The disk has no room: `needed`.
    case noSpace = "no_space"
    /// It was stopped or discarded as told.
    case stopped
  }

  /// What a worker tells of a transfer.
  public struct TransferReport: Codable, Hashable, Sendable {
    /// The number of the transfer.
    public let id: Int64
    /// What it is.
    public let kind: ReportKind
    /// What is handed back with the next order; with `began`.
    public let resume: Resume?
    /// How many bytes of the file are moved so far.
    public let bytes: Int64?
    /// How many there are in all, once that is known.
    public let total: Int64?
    /// How it came out; with `ended`.
    public let end: ReportEnd?
    /// Not to be tried again before so many microseconds have passed; with `retry`, if the server said so.
    public let retryAfterMicroseconds: Int64?
    /// How many bytes more the disk must have; with `no_space`.
    public let needed: Int64?
    /// The SHA-256 of the file, where it was checked; with `done`.
    public let sha256: String?
    /// The trouble in one line without secrets; with `failed` and `retry`.
    public let message: String?

    /// Makes it of its parts.
    public init(
      id: Int64, kind: ReportKind, resume: Resume? = nil, bytes: Int64? = nil, total: Int64? = nil,
      end: ReportEnd? = nil, retryAfterMicroseconds: Int64? = nil, needed: Int64? = nil, sha256: String? = nil,
      message: String? = nil
    ) {
      self.id = id
      self.kind = kind
      self.resume = resume
      self.bytes = bytes
      self.total = total
      self.end = end
      self.retryAfterMicroseconds = retryAfterMicroseconds
      self.needed = needed
      self.sha256 = sha256
      self.message = message
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case kind
      case resume
      case bytes
      case total
      case end
      case retryAfterMicroseconds = "retry_after_us"
      case needed
      case sha256
      case message
    }
  }
}
