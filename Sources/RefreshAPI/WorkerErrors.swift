extension WorkerInterface {
  /// The token is of no worker and of no task that is running.
  public struct NoSuchToken: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Worker.NoSuchToken"

    /// Makes it.
    public init() {
    }
  }

  /// What was told cannot be stored.
  public struct NotStored: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Worker.NotStored"
    /// Why, for instance that the disk is full.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }
}
