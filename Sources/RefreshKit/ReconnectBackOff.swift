/// The pauses between a client's attempts to connect.
///
/// Each pause is twice as long as the one before. The client waits a random part between half and all of it ("equal
/// jitter", M. Brooker, Exponential Backoff And Jitter, AWS Architecture Blog 2015), so that the clients of a daemon do
/// not all return at once.
enum ReconnectBackOff {
  /// The first pause: systemd restarts no unit sooner by default (`RestartSec=`, systemd.service(5)).
  static let first = Duration.milliseconds(100)
  /// The longest pause: the daemon retries no failed refresh sooner than this.
  static let longest = Duration.seconds(30)
  /// How long the client waits for a reply: as long as `refreshctl` waits for the reply to a lease.
  static let patience = Duration.seconds(5)
  /// How long it waits for the reply to a change that is stored: the daemon waits for its disk for 8 s.
  static let storingPatience = Duration.seconds(12)

  /// The pause after this number of failures in a row, at least 1.
  ///
  /// `chance` is a random number from 0 to 1.
  static func pause(after failures: Int, chance: Double) -> Duration {
    // 2^9 times the first pause exceeds the longest one.
    let whole = min(longest, first * (1 << min(max(failures, 1) - 1, 9)))
    return whole * (0.5 + 0.5 * chance)
  }
}
