@preconcurrency import Glibc

/// An error of the command: the message for standard error, and the exit status.
struct Failure: Error, Hashable {
  let status: ExitStatus
  /// The message: the failed action, its object, and a remedy; it begins with "cannot".
  let text: String
  /// The id that names no app of the caller.
  var app: String?
}

/// Writes a message about the command itself to standard error; standard output holds only results.
func warn(_ text: String) {
  fputs(Screen(of: STDERR_FILENO).message("refreshctl: \(text)") + "\n", stderr)
}

/// The C library's description of an error number, such as `No such file or directory`.
func errorText(_ code: Int32) -> String { String(cString: strerror(code)) }
