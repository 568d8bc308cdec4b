import Glibc
import HTTP

/// The reason why a fetch or a transfer failed, and whether a retry may succeed.
struct TaskFailure: Error, Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// A retry would fail again.
    case failed
    /// A retry may succeed, after this time.
    case retry(after: Duration?)
    /// The content is wrong, or nobody can tell whether it is whole: it may be right later.
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
    case ENOENT: self.init(.failed, "\(sentence); make it first")
    case ENAMETOOLONG: self.init(.failed, "\(sentence); choose a shorter name")
    case EISDIR, ENOTDIR, ELOOP, EFBIG, EINVAL, ENODEV, ENXIO, EEXIST, ENOTEMPTY: self.init(.failed, sentence)
    default: self.init(.retry(after: nil), sentence)
    }
  }

  init(_ failure: ExchangeFailure) {
    self.init(failure.kind == .permanent ? .failed : .retry(after: nil), failure.message)
  }
}
