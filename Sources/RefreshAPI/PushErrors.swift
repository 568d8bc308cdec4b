extension PushInterface {
  /// The caller may not do this.
  public struct NotAllowed: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Push.NotAllowed"
    /// What would help, in one sentence.
    public let remedy: String

    /// Makes it of its parts.
    public init(remedy: String) {
      self.remedy = remedy
    }
  }

  /// Nothing of the call can be stored, so nothing was taken: it is to be sent again later.
  public struct NotStored: Error, Codable, Hashable, Sendable {
    /// The name of the error on the socket.
    public static let name = "org.refreshd.Push.NotStored"
    /// Why, for instance that the disk is full.
    public let problem: String

    /// Makes it of its parts.
    public init(problem: String) {
      self.problem = problem
    }
  }
}
