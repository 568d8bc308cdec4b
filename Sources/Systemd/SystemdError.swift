import CSystemd
import Glibc

/// A failed call to libsystemd or the kernel.
///
/// libsystemd returns errors as negative errno(3) numbers. This keeps the number for programs and a sentence for
/// people.
public struct SystemdError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The failed action: the words after "cannot", for example "watch descriptor 7".
  public var action: String
  /// The errno(3) number, positive.
  public var code: Int32
  /// The remedy, a sentence; empty when the system's own error text is enough.
  public var remedy: String

  /// Makes an error from its parts; `code` may be the negative number that libsystemd returns.
  public init(cannot action: String, code: Int32, remedy: String = "") {
    self.action = action
    self.code = abs(code)
    self.remedy = remedy
  }

  /// The whole sentence, for a log or a person.
  public var description: String {
    let reason = "cannot \(action): \(String(cString: strerror(code)))"
    return remedy.isEmpty ? reason : "\(reason). \(remedy)"
  }
}

/// Returns `result`, or throws when it is negative.
@discardableResult
func check(
  _ result: Int32, cannot action: @autoclosure () -> String, remedy: @autoclosure () -> String = ""
) throws(SystemdError) -> Int32 {
  guard result >= 0 else { throw SystemdError(cannot: action(), code: result, remedy: remedy()) }
  return result
}

/// Ends the process when `result` is negative.
///
/// This is for calls on a live event source. They fail only if the descriptor was closed before its source was
/// cancelled, and the source would then never be called again.
func require(_ result: Int32, _ action: StaticString) {
  precondition(result >= 0, "cannot \(action): \(String(cString: strerror(-result)))")
}
