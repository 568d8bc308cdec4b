import RefreshEngine

/// The request of a transfer, which never changes.
///
/// The URL may have a password or a token in it. It is in the store, which only its owner can read, and is shown nowhere.
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
  /// How long the file is to be, in bytes.
  public var length: Int64?
  /// How fast it may be, in bytes a second; nil for no bound.
  public var maxRate: Int64?
  /// Whether an upload is sent with POST and not with PUT.
  public var isPost = false
  /// Whether an upload goes by tus.
  public var isTus = false
  /// The file that has more headers.
  public var headersFile: String?
  /// The file that has user and password.
  public var credentialFile: String?
  /// Whether user and password are looked up in the owner's `.netrc`.
  public var usesNetrc = false
  /// The text of the desktop notification when the last transfer of the session has ended.
  public var notice: String?
  /// The user id of the app's owner when it asked; nil for a transfer of a release before schema 9.
  public var owner: UInt32?

  /// Makes a request with nothing special about it.
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
  /// The date of that answer, as the server wrote it.
  public var date: String?
  /// How long the file is, in bytes.
  public var total: Int64?
  /// How many bytes of it have outlived a loss of power.
  public var durable: Int64
  /// The kernel's id of the boot in which they were written.
  public var boot: String
  /// Where an upload by tus goes on.
  public var tusURL: String?
  /// The identity of the partial file.
  public var partMark: Int64?

  /// Makes what is known of a file of which so many bytes are safe.
  public init(durable: Int64, boot: String) {
    self.durable = durable
    self.boot = boot
  }
}

/// How far a transfer has come.
public struct TransferProgress: Hashable, Sendable {
  /// How often it was given to a worker.
  public var attempts: Int64 = 0
  /// The last trouble, in one line; nil while there was none.
  public var message: String?
  /// How many bytes of the file are moved, as far as that is saved.
  public var bytes: Int64 = 0
  /// How many there are in all, once that is known.
  public var total: Int64?
  /// The SHA-256 of the file, where it was checked.
  public var sha256: String?
  /// The data to resume; nil for a transfer that has not moved a byte.
  public var resume: ResumeData?

  /// The progress of a transfer that has not begun.
  public init() {}
}

/// A transfer as the store has it.
public struct StoredTransfer: Hashable, Sendable {
  /// The engine's state, on this boot's clock.
  public var state: TransferState
  /// The request.
  public var request: TransferRequest
  /// How far it has come.
  public var progress: TransferProgress

  /// Makes it of its parts.
  public init(state: TransferState, request: TransferRequest, progress: TransferProgress = TransferProgress()) {
    self.state = state
    self.request = request
    self.progress = progress
  }

  /// The transfer with its instants changed, as a reboot changes them.
  func moved(_ change: (Instant) -> Instant) -> StoredTransfer {
    StoredTransfer(state: state.moved(change), request: request, progress: progress)
  }
}
