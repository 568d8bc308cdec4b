import Glibc

/// An error of a system call, in a sentence: `cannot read /etc/x: Permission denied`.
struct SystemCallError: Error, Hashable, CustomStringConvertible {
  /// The attempt that failed, after "cannot ".
  let attempt: String
  /// The code, from `errno(3)`.
  let code: Int32

  var description: String { "cannot \(attempt): \(Self.text(of: code))" }

  /// The C library's text for a code.
  static func text(of code: Int32) -> String {
    guard let text = strerror(code) else { return "error \(code)" }
    return String(cString: text)
  }
}
