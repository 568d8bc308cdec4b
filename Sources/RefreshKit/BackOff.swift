/// How long a client waits before it connects anew.
///
/// Each pause is twice the one before, and a random part between half and all of it is waited ("equal jitter",
/// M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015), so that the clients of one daemon do not
/// come back in one moment.
enum BackOff {
  /// The first pause: no unit restarts sooner than that (`RestartSec=`, systemd.service(5)).
  static let first = Duration.milliseconds(100)
  /// The longest pause: the least time after which the daemon itself tries a failed refresh again (DESIGN section 4).
  static let longest = Duration.seconds(30)
  /// How long an answer is waited for: as long as `refreshctl` waits for that to a lease.
  static let patience = Duration.seconds(5)

  /// The pause after so many failures in a row, at least one.
  ///
  /// - Parameter chance: a random number from 0 to 1.
  static func pause(after failures: Int, chance: Double) -> Duration {
    // 2^9 first pauses are more than the longest one.
    let whole = min(longest, first * (1 << min(max(failures, 1) - 1, 9)))
    return whole * (0.5 + 0.5 * chance)
  }
}
