extension TransfersInterface {
  /// No app of this id is configured.
  public struct NoSuchApp: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.NoSuchApp"
    /// The id that was asked for.
    public let app: String

    /// Makes it of its parts.
    public init(app: String) {
      self.app = app
    }
  }

  /// There is no transfer of this number.
  public struct NoSuchTransfer: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.NoSuchTransfer"
    /// The number that was asked for.
    public let id: Int64

    /// Makes it of its parts.
    public init(id: Int64) {
      self.id = id
    }
  }

  /// The transfer is over, so nothing can be changed of it.
  public struct AlreadyEnded: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.AlreadyEnded"
    /// The number that was asked for.
    public let id: Int64
    /// How it ended.
    public let result: Wire.TransferResult

    /// Makes it of its parts.
    public init(id: Int64, result: Wire.TransferResult) {
      self.id = id
      self.result = result
    }
  }

  /// The caller may not do this.
  public struct NotAllowed: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.NotAllowed"
    /// The id of the app.
    public let app: String
    /// What would help, in one sentence.
    public let remedy: String

    /// Makes it of its parts.
    public init(app: String, remedy: String) {
      self.app = app
      self.remedy = remedy
    }
  }

  /// A request cannot be taken, and so none of the call was.
  public struct InvalidRequest: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.InvalidRequest"
    /// Which of them, from 0.
    public let index: Int64
    /// The field of the request.
    public let field: String
    /// What is wrong with it.
    public let reason: String
    /// What to write instead.
    public let remedy: String

    /// Makes it of its parts.
    public init(index: Int64, field: String, reason: String, remedy: String) {
      self.index = index
      self.field = field
      self.reason = reason
      self.remedy = remedy
    }
  }

  /// Another connection has rejoined the session.
  public struct SessionTaken: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.SessionTaken"
    /// The id of the app.
    public let app: String
    /// The name of the session.
    public let session: String

    /// Makes it of its parts.
    public init(app: String, session: String) {
      self.app = app
      self.session = session
    }
  }

  /// The change cannot be stored, so it was not made.
  public struct NotStored: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.NotStored"
    /// Why, for instance that the disk is full.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }

  /// The queue has no room for these transfers, or no more for those of this app.
  public struct QueueFull: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Transfers.QueueFull"
    /// How many it holds.
    public let limit: Int64

    /// Makes it of its parts.
    public init(limit: Int64) {
      self.limit = limit
    }
  }
}
