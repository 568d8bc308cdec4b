extension Wire {
  /// What the daemon tells a fetch of kind `http` on its standard input, as one JSON object.
  ///
  /// No message of an interface: it is between a daemon and the refresh-worker of the same release. Standard input,
  /// because everybody may read a process's arguments, and the URL may hold secrets.
  public struct FetchOrder: Codable, Hashable, Sendable {
    /// The whole URL, as the app's file has it.
    public let url: String
    /// The absolute path of the file that is replaced.
    public let to: String
    /// The absolute path of a file with header fields; absent for none.
    public let headersFile: String?
    /// The absolute path of a file with user and password; absent for none.
    public let credentialFile: String?
    /// Whether user and password come from the owner's `~/.netrc`.
    public let netrc: Bool
    /// The most bytes of a body, decoded.
    public let mostBytes: Int64
    /// What is remembered of the last answer; absent before the first.
    public let remembered: Remembered?

    /// What is remembered of an answer.
    public struct Remembered: Codable, Hashable, Sendable {
      /// The validator of the content, with its quotes.
      public let etag: String?
      /// The date of the content, as the server wrote it.
      public let lastModified: String?
      /// The SHA-256 of the content, 64 hexadecimal digits.
      public let digest: String?

      /// Makes it of its parts.
      public init(etag: String?, lastModified: String?, digest: String?) {
        (self.etag, self.lastModified, self.digest) = (etag, lastModified, digest)
      }
    }

    /// Makes it of its parts.
    public init(
      url: String, to: String, headersFile: String? = nil, credentialFile: String? = nil, netrc: Bool = false,
      mostBytes: Int64, remembered: Remembered? = nil
    ) {
      self.url = url
      self.to = to
      self.headersFile = headersFile
      self.credentialFile = credentialFile
      self.netrc = netrc
      self.mostBytes = mostBytes
      self.remembered = remembered
    }
  }
}
