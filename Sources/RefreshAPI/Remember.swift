extension WorkerInterface {
  /// Keeps what a fetch of kind `http` must know the next time, for the app of the token and this URL.
  public enum Remember: InterfaceMethod {
    /// The name of the method on the socket.
    public static let name = "org.refreshd.Worker.Remember"

    /// What `Remember` is called with.
    public struct Parameters: Codable, Hashable, Sendable {
      /// What the task found in its environment as REFRESH_TOKEN.
      public let token: String
      /// The URL, as the app's file has it.
      public let url: String
      /// The validator of the content.
      public let etag: String?
      /// The date of the content, as the server wrote it.
      public let lastModified: String?
      /// The SHA-256 of the content, 64 hexadecimal digits.
      public let digest: String?

      /// Makes it of its parts.
      public init(token: String, url: String, etag: String? = nil, lastModified: String? = nil, digest: String? = nil) {
        self.token = token
        self.url = url
        self.etag = etag
        self.lastModified = lastModified
        self.digest = digest
      }

      private enum CodingKeys: String, CodingKey {
        case token
        case url
        case etag
        case lastModified = "last_modified"
        case digest
      }
    }

    /// What `Remember` answers.
    public struct Reply: Codable, Hashable, Sendable {

      /// Makes it.
      public init() {
      }
    }
  }
}
