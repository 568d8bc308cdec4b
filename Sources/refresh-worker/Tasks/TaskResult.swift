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

  /// The exit code of the same meaning, in case the daemon does not get the call of `Complete`.
  var exitCode: Int32 {
    switch outcome {
    case .newData: 0
    case .noData: 100
    case .failed: isTemporary || retryAfter != nil ? EX_TEMPFAIL : 1
    }
  }
}
