@preconcurrency import Glibc

/// What went wrong, as it is told on standard error, and how the process ends for it.
struct Failure: Error, Hashable {
  /// How the process ends.
  let status: ExitStatus
  /// What happened, to what, and what to do next; begins "cannot".
  let text: String
}

/// Writes a line about the command itself to standard error, so that standard output holds only what was asked for.
func warn(_ text: String) {
  fputs("refreshctl: \(text)\n", stderr)
}
