import CSystemd
import Glibc

/// A call to libsystemd or the kernel that did not do its work.
///
/// libsystemd returns errors as negated `errno(3)` numbers; this keeps the number for code and a sentence for people.
public struct SystemdError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What could not be done, and to what: the words after "cannot", for instance "watch descriptor 7".
  public var action: String
  /// The `errno(3)` number, positive.
  public var code: Int32
  /// What to do next, a sentence; empty when the system's own words say it.
  public var remedy: String

  /// Makes an error of its parts; `code` may also be the negated number that libsystemd returns.
  public init(cannot action: String, code: Int32, remedy: String = "") {
    self.action = action
    self.code = abs(code)
    self.remedy = remedy
  }

  /// The whole sentence, as a log or a person gets it.
  public var description: String {
    let reason = "cannot \(action): \(String(cString: strerror(code)))"
    return remedy.isEmpty ? reason : "\(reason). \(remedy)"
  }
}

/// Gives `result` back, or throws when it is negative.
@discardableResult
func check(
  _ result: Int32, cannot action: @autoclosure () -> String, remedy: @autoclosure () -> String = ""
) throws(SystemdError) -> Int32 {
  guard result >= 0 else { throw SystemdError(cannot: action(), code: result, remedy: remedy()) }
  return result
}

/// Ends the process when `result` is negative.
///
/// For calls on a live event source that sd-event(3) lets go wrong only when the source's descriptor was closed before
/// the source was cancelled: going on would be a source that is never called again.
func require(_ result: Int32, _ action: StaticString) {
  precondition(result >= 0, "cannot \(action): \(String(cString: strerror(-result)))")
}
