import Glibc
import HTTP

/// Why a file did not get where it was to go, and what that means for another try.
struct Trouble: Error, Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Another try would go the same way.
    case failed
    /// Worth another try, not before so long.
    case retry(after: Duration?)
    /// There is no room for so many more bytes.
    case noSpace(needed: Int64)
  }

  let kind: Kind
  /// What happened, to what, and what to do next: one line without secrets.
  let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// An error of a system call about a file, by its errno(3); `needed` is how many bytes are still to come.
  init(errno code: Int32, _ what: String, _ path: String, needed: Int64 = 0) {
    let why = String(cString: strerror(code))
    let sentence = "cannot \(what) \(path): \(why)"
    switch code {
    case ENOSPC, EDQUOT: self.init(.noSpace(needed: max(needed, 1)), sentence)
    case EACCES, EPERM, EROFS: self.init(.failed, "\(sentence); let the app's owner write there")
    case ENOENT: self.init(.failed, "\(sentence); make it first")
    case ENAMETOOLONG: self.init(.failed, "\(sentence); choose a name of 250 bytes at most")
    case EISDIR, ENOTDIR, ELOOP, EFBIG, EINVAL, ENODEV, ENXIO, EEXIST, ENOTEMPTY: self.init(.failed, sentence)
    default: self.init(.retry(after: nil), sentence)
    }
  }

  init(_ failure: ExchangeFailure) {
    self.init(failure.kind == .permanent ? .failed : .retry(after: nil), failure.message)
  }
}
