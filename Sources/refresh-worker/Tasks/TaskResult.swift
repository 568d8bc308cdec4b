import Glibc
import HTTP
import RefreshAPI

/// The result of a built-in task.
struct TaskResult: Hashable {
  let outcome: Wire.Outcome
  /// The line for the history, without secrets.
  let message: String
  /// Whether a retry may succeed after a failure.
  var isTemporary = false
  /// The delay before a retry that the server asked for.
  var retryAfter: Duration?
  /// The freshness lifetime that the server declared.
  var freshFor: Duration?
  /// The validators and the digest that the daemon must remember; nil if they did not change.
  var remembered: Wire.FetchOrder.Remembered?

  init(
    _ outcome: Wire.Outcome, _ message: String, freshFor: Duration? = nil, remembered: Wire.FetchOrder.Remembered? = nil
  ) {
    (self.outcome, self.message) = (outcome, message)
    (self.freshFor, self.remembered) = (freshFor, remembered)
  }

  /// Makes the result of a failure without an HTTP status.
  init(_ failure: TaskFailure) {
    (outcome, message) = (.failed, failure.message)
    switch failure.kind {
    case .failed: break
    case .retry(let after): (isTemporary, retryAfter) = (true, after)
    case .wrong, .noSpace: isTemporary = true
    }
  }

  /// Makes the result of a failure with an HTTP status.
  init(refusedBy head: ResponseHead, isTemporary: Bool, at now: Int64) {
    (outcome, message) = (.failed, "HTTP status \(head.status)")
    self.isTemporary = isTemporary
    // A permanent failure is not retried, so its `Retry-After` does not count.
    if isTemporary { retryAfter = head.retryAfter(now: now) }
  }

  /// The exit code with the same meaning, in case the call of `Complete` does not reach the daemon.
  var exitCode: Int32 {
    switch outcome {
    case .newData: 0
    case .noData: 100
    case .failed: isTemporary || retryAfter != nil ? EX_TEMPFAIL : 1
    }
  }
}

/// The reason why a fetch or a transfer failed, and whether a retry may succeed.
struct TaskFailure: Error, Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// A retry would fail again.
    case failed
    /// A retry may succeed, after this time.
    case retry(after: Duration?)
    /// The content is wrong, or may be incomplete; a later attempt may succeed.
    case wrong
    /// The disk has no room for this many more bytes.
    case noSpace(needed: Int64)
  }

  let kind: Kind
  /// The error, the file or host, and the remedy, in one line without secrets.
  let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// Makes a failure of a system call on a file from errno(3); `needed` is the number of bytes still to be written.
  init(errno code: Int32, _ what: String, _ path: String, needed: Int64 = 0) {
    let why = String(cString: strerror(code))
    let sentence = "cannot \(what) \(path): \(why)"
    switch code {
    case ENOSPC, EDQUOT: self.init(.noSpace(needed: max(needed, 1)), sentence)
    // A worker's view of the file system may be older than the folder; the next worker has a new view.
    case EROFS: self.init(.retry(after: nil), sentence)
    case EACCES, EPERM: self.init(.failed, "\(sentence); let the app's owner write there")
    case ENOENT: self.init(.failed, "\(sentence); create it first")
    case ENAMETOOLONG: self.init(.failed, "\(sentence); choose a shorter name")
    case EISDIR, ENOTDIR, ELOOP, EFBIG, EINVAL, ENODEV, ENXIO, EEXIST, ENOTEMPTY: self.init(.failed, sentence)
    default: self.init(.retry(after: nil), sentence)
    }
  }

  init(_ failure: ExchangeFailure) {
    self.init(failure.kind == .permanent ? .failed : .retry(after: nil), failure.message)
  }
}
