extension AppInterface {
  /// No app of this id is configured.
  public struct NoSuchApp: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.NoSuchApp"
    /// The id that was asked for.
    public let app: String

    /// Makes it of its parts.
    public init(app: String) {
      self.app = app
    }
  }

  /// The app has another owner.
  public struct NotAllowed: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.NotAllowed"
    /// The id that was asked for.
    public let app: String
    /// What would help, in one sentence.
    public let remedy: String

    /// Makes it of its parts.
    public init(app: String, remedy: String) {
      self.app = app
      self.remedy = remedy
    }
  }

  /// Only `launched` and `foreground` can be leased: there is nothing to undo in the others.
  public struct NotLeasable: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.NotLeasable"
    /// The signal.
    public let signal: Wire.LifecycleSignal

    /// Makes it of its parts.
    public init(signal: Wire.LifecycleSignal) {
      self.signal = signal
    }
  }

  /// The token is of no task that is running: it ended, or its refresh was stopped.
  ///
  /// Or it came with `perform`, and to the connection of another user.
  public struct NoSuchToken: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.NoSuchToken"

    /// Makes it.
    public init() {
    }
  }

  /// The task has an outcome already, and keeps it.
  public struct AlreadyCompleted: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.AlreadyCompleted"
    /// The outcome that stands.
    public let outcome: Wire.Outcome

    /// Makes it of its parts.
    public init(outcome: Wire.Outcome) {
      self.outcome = outcome
    }
  }

  /// The push cannot be taken as it is; sent again, it would not be either.
  public struct InvalidPayload: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.InvalidPayload"
    /// What is wrong with it, without anything of it.
    public let problem: String
    /// What to send instead, in one sentence.
    public let remedy: String

    /// Makes it of its parts.
    public init(problem: String, remedy: String) {
      self.problem = problem
      self.remedy = remedy
    }
  }

  /// What was told cannot be stored: a switch stays as it was, and a push is not taken.
  public struct NotStored: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.App.NotStored"
    /// Why, for instance that the disk is full.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }
}
