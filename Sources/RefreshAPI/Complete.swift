extension AppInterface {
  /// Tells the outcome of a task that is running.
  ///
  /// The task may go on to clean up, but its outcome stands: the first completion wins, a later one is counted and
  /// answered with AlreadyCompleted. Whoever has the token may call; one that came with `perform` is good for the user
  /// only to whose connection it came. There the first completion ends the refresh, and the token with it.
  public enum Complete: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.App.Complete"

    /// What `Complete` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// What the task finds in its environment as REFRESH_TOKEN, or an attached app in `perform`.
      public let token: String
      /// The outcome.
      public let outcome: Wire.Outcome
      /// One line for the history: what was new, or what went wrong.
      ///
      /// What is longer than 200 bytes is cut.
      public let message: String?
      /// With `failed`: how long after the end of the refresh it may be tried again, microseconds, 24 h at most.
      ///
      /// What a server's `Retry-After` says. A failure with it is worth a retry.
      public let retryAfterMicroseconds: Int64?
      /// With `failed`: whether it is worth a retry, although nobody said when.
      ///
      /// False if absent.
      public let temporary: Bool?
      /// Unless `failed`: how long from now on there will be nothing new, microseconds, 24 h at most.
      ///
      /// What a server's `Cache-Control: max-age` says. The app is not refreshed by its interval before that.
      public let freshForMicroseconds: Int64?

      /// Makes it of its parts.
      public init(
        token: String, outcome: Wire.Outcome, message: String? = nil, retryAfterMicroseconds: Int64? = nil,
        temporary: Bool? = nil, freshForMicroseconds: Int64? = nil
      ) {
        self.token = token
        self.outcome = outcome
        self.message = message
        self.retryAfterMicroseconds = retryAfterMicroseconds
        self.temporary = temporary
        self.freshForMicroseconds = freshForMicroseconds
      }

      private enum CodingKeys: String, CodingKey {
        case token
        case outcome
        case message
        case retryAfterMicroseconds = "retry_after_us"
        case temporary
        case freshForMicroseconds = "fresh_for_us"
      }
    }

    /// What `Complete` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
