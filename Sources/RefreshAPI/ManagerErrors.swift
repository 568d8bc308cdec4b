extension ManagerInterface {
  /// No app of this id is configured.
  public struct NoSuchApp: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.NoSuchApp"
    /// The id that was asked for.
    public let app: String

    /// Makes it of its parts.
    public init(app: String) {
      self.app = app
    }
  }

  /// The caller may not do this.
  public struct NotAllowed: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.NotAllowed"
    /// The id of the app; absent when it is about the daemon itself.
    public let app: String?
    /// What would help, in one sentence.
    public let remedy: String

    /// Makes it of its parts.
    public init(app: String? = nil, remedy: String) {
      self.app = app
      self.remedy = remedy
    }
  }

  /// The app cannot be refreshed now, not even when a person asks.
  public struct Held: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.Held"
    /// The id of the app.
    public let app: String
    /// What keeps it, at least one.
    public let holds: [Wire.Hold]

    /// Makes it of its parts.
    public init(app: String, holds: [Wire.Hold]) {
      self.app = app
      self.holds = holds
    }
  }

  /// The text is not an interval, or one out of bounds.
  public struct InvalidInterval: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.InvalidInterval"
    /// The text of the call.
    public let text: String
    /// What is wrong with it and what is right.
    public let problem: String

    /// Makes it of its parts.
    public init(text: String, problem: String) {
      self.text = text
      self.problem = problem
    }
  }

  /// The configuration on disk has mistakes; the one in force stays.
  public struct BadConfiguration: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.BadConfiguration"
    /// Every mistake, at least one.
    public let problems: [Wire.Problem]

    /// Makes it of its parts.
    public init(problems: [Wire.Problem]) {
      self.problems = problems
    }
  }

  /// The change cannot be stored, so it was not made.
  public struct NotStored: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.NotStored"
    /// Why, for instance that the disk is full.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }

  /// The history cannot be read.
  public struct NotReadable: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Manager.NotReadable"
    /// Why, for instance that the file is damaged.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }
}
