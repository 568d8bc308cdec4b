import RefreshEngine

/// The request of a transfer, which never changes.
///
/// The URL may contain a password or a token. It is in the store, which only its owner can read, and is shown nowhere.
public struct TransferRequest: Hashable, Sendable {
  /// The direction of a transfer.
  public enum Direction: String, Hashable, Sendable, CaseIterable {
    /// From the URL to the path.
    case download
    /// From the path to the URL.
    case upload
  }

  /// The direction.
  public var direction: Direction
  /// The whole URL, with its secrets.
  public var url: String
  /// The file on this machine, a whole path.
  public var path: String
  /// A description, in the caller's words.
  public var description: String?
  /// The expected SHA-256 of the file, 64 hexadecimal digits in lower case.
  public var sha256: String?
  /// The expected length of the file, in bytes.
  public var length: Int64?
  /// The bound of its speed, in bytes a second; nil for none.
  public var maxRate: Int64?
  /// Whether an upload uses POST and not PUT.
  public var isPost = false
  /// Whether an upload uses tus.
  public var isTus = false
  /// The file with further headers.
  public var headersFile: String?
  /// The file with user and password.
  public var credentialFile: String?
  /// Whether user and password come from the owner's `.netrc`.
  public var usesNetrc = false
  /// The text of the desktop notification when the last transfer of the session has ended.
  public var notice: String?
  /// The user id of the app's owner at the request; nil if it is not known.
  public var owner: UInt32?
  /// The id of the Flatpak that asked for it, whose files alone it may read and write; nil if it was asked for outside one.
  public var flatpak: String?

  /// Makes a plain request.
  public init(_ direction: Direction, url: String, path: String) {
    self.direction = direction
    self.url = url
    self.path = path
  }
}

/// The data to resume a transfer, as its worker reports it.
public struct ResumeData: Hashable, Sendable {
  /// The URL after redirects.
  public var url: String?
  /// The validator of the file on the server, with its quotes.
  public var etag: String?
  /// The date of the file on the server, as the server wrote it.
  public var lastModified: String?
  /// The `Date` of that answer, as the server wrote it.
  public var date: String?
  /// The length of the file, in bytes.
  public var total: Int64?
  /// How many of its bytes would survive a loss of power.
  public var durable: Int64
  /// The kernel's id of the boot in which they were written.
  public var boot: String
  /// The URL at which an upload by tus goes on.
  public var tusURL: String?
  /// The identity of the partial file.
  public var partMark: Int64?

  /// Makes the data of a file with a number of durable bytes.
  public init(durable: Int64, boot: String) {
    self.durable = durable
    self.boot = boot
  }
}

/// The progress of a transfer.
public struct TransferProgress: Hashable, Sendable {
  /// How often a worker got it.
  public var attempts: Int64 = 0
  /// The last error, in one line; nil without any.
  public var message: String?
  /// How many bytes of the file are moved, as far as saved.
  public var bytes: Int64 = 0
  /// The length of the file in bytes, once it is known.
  public var total: Int64?
  /// The SHA-256 of the file, if it was checked.
  public var sha256: String?
  /// The data to resume; nil if no byte was moved.
  public var resume: ResumeData?

  /// The progress of a transfer that has not begun.
  public init() {}
}

/// A transfer in the store.
public struct StoredTransfer: Hashable, Sendable {
  /// The engine's state, on this boot's clock.
  public var state: TransferState
  /// The request.
  public var request: TransferRequest
  /// The progress.
  public var progress: TransferProgress

  /// Makes a transfer from its parts.
  public init(state: TransferState, request: TransferRequest, progress: TransferProgress = TransferProgress()) {
    self.state = state
    self.request = request
    self.progress = progress
  }

  /// The transfer with its instants changed, as after a reboot.
  func moved(_ change: (Instant) -> Instant) -> StoredTransfer {
    StoredTransfer(state: state.moved(change), request: request, progress: progress)
  }
}
