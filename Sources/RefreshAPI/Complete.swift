extension AppInterface {
  /// Tells the outcome of a task that is running.
  ///
  /// The task may go on to clean up, but its outcome stands: the first completion wins, a later one is counted and
  /// answered with AlreadyCompleted. Whoever has the token may call.
  public enum Complete: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.App.Complete"

    /// What `Complete` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// What the task finds in its environment as REFRESH_TOKEN.
      public let token: String
      /// The outcome.
      public let outcome: Wire.Outcome
      /// One line for the history: what was new, or what went wrong.
      public let message: String?

      /// Makes it of its parts.
      public init(token: String, outcome: Wire.Outcome, message: String? = nil) {
        self.token = token
        self.outcome = outcome
        self.message = message
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
