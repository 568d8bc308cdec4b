import Glibc
import HTTP
import RefreshAPI

/// How a task went.
struct TaskResult: Hashable {
  let outcome: Wire.Outcome
  /// One line for the history, without secrets.
  let message: String
  /// Whether a failure is worth another try.
  var isTemporary = false
  /// When the server wants to be asked again at the earliest.
  var retryAfter: Duration?
  /// How long there will be nothing new, by the server's word.
  var freshFor: Duration?
  /// What is to be remembered of the answer, where that has changed.
  var remembered: Wire.FetchOrder.Remembered?

  init(
    _ outcome: Wire.Outcome, _ message: String, freshFor: Duration? = nil, remembered: Wire.FetchOrder.Remembered? = nil
  ) {
    (self.outcome, self.message) = (outcome, message)
    (self.freshFor, self.remembered) = (freshFor, remembered)
  }

  /// A failure that the server did not answer for.
  init(_ trouble: Trouble) {
    (outcome, message) = (.failed, trouble.message)
    switch trouble.kind {
    case .failed: break
    case .retry(let after): (isTemporary, retryAfter) = (true, after)
    case .noSpace: isTemporary = true
    }
  }

  /// A failure that the server answered with.
  init(refusedBy head: ResponseHead, isTemporary: Bool, at now: Int64) {
    (outcome, message) = (.failed, "HTTP status \(head.status)")
    self.isTemporary = isTemporary
    // What is gone for good is not waited for.
    if isTemporary { retryAfter = head.retryAfter(now: now) }
  }

  /// The exit code that says the same to who does not hear the completion.
  var exitCode: Int32 {
    switch outcome {
    case .newData: 0
    case .noData: 100
    case .failed: isTemporary || retryAfter != nil ? EX_TEMPFAIL : 1
    }
  }
}
