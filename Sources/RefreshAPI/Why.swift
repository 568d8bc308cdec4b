extension ManagerInterface {
  /// Why an app is refreshed when it is, or is not: every term of the judgement, and what was before.
  public enum Why: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Manager.Why"

    /// What `Why` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// The id of the app.
      public let app: String

      /// Makes it of its parts.
      public init(app: String) {
        self.app = app
      }
    }

    /// What `Why` answers.
    public struct Reply: Codable, Hashable, Sendable {
      /// The explanation.
      public let why: Wire.Explanation

      /// Makes it of its parts.
      public init(why: Wire.Explanation) {
        self.why = why
      }
    }
  }
}
