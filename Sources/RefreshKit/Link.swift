/// Decides whether a client is connected and when it tries again.
///
/// A pure value without socket or clock; ``RefreshClient`` performs its effects.
///
/// ```
/// closed     -> connecting   opened
/// connecting -> connected    answered
/// connecting -> waiting      broke, or the reply is late
/// connected  -> connecting   extended
/// connected  -> waiting      broke
/// waiting    -> connecting   the pause is over
/// connecting -> closed       broke or late at the first attempt, unless it keeps trying; or closed
/// connected  -> closed       closed
/// waiting    -> closed       closed
/// ```
struct Link: Sendable {
  enum State: Hashable, Sendable {
    case closed
    /// The calls are sent; `failures` attempts before this one have failed.
    ///
    /// `failures` is nil if the client gives up when this attempt fails.
    case connecting(failures: Int?, until: ContinuousClock.Instant)
    case connected(failures: Int, since: ContinuousClock.Instant)
    case waiting(failures: Int, until: ContinuousClock.Instant)
  }

  enum Event: Hashable, Sendable {
    /// The app opens the client; `keepsTrying` retries a failed first attempt.
    case opened(keepsTrying: Bool)
    /// The app needs one more stream.
    case extended
    /// The daemon has answered on all wanted streams.
    case answered
    /// A connection has ended or could not be made.
    case broke(chance: Double)
    case closed
    case timePassed(chance: Double)
  }

  enum Effect: Hashable, Sendable {
    /// Open the wanted connections that are missing.
    case connect
    /// End all connections; the next attempt comes after the given pause.
    case disconnect(retryingIn: Duration)
    /// End all connections and do not retry.
    case end
  }

  private(set) var state = State.closed

  /// When ``Event/timePassed(chance:)`` is due; nil if only the daemon or the app can change the state.
  var wake: ContinuousClock.Instant? {
    switch state {
    case .closed, .connected: nil
    case .connecting(_, let until), .waiting(_, let until): until
    }
  }

  /// Whether connections may be open.
  var isUp: Bool {
    switch state {
    case .connecting, .connected: true
    case .waiting, .closed: false
    }
  }

  mutating func handle(_ event: Event, at now: ContinuousClock.Instant) -> Effect? {
    switch (state, event) {
    case (.closed, .opened(let keepsTrying)):
      state = .connecting(failures: keepsTrying ? 0 : nil, until: now + ReconnectBackOff.patience)
      return .connect
    case (.connected(let failures, _), .extended):
      state = .connecting(failures: failures, until: now + ReconnectBackOff.patience)
      return .connect
    case (.connecting(let failures, _), .answered):
      state = .connected(failures: failures ?? 0, since: now)
      return nil
    case (.connecting(nil, _), .broke): return end()
    case (.connecting(nil, let until), .timePassed) where now >= until: return end()
    case (.connecting(let failures?, _), .broke(let chance)): return wait(after: failures + 1, chance, at: now)
    case (.connecting(let failures?, let until), .timePassed(let chance)) where now >= until:
      return wait(after: failures + 1, chance, at: now)
    case (.connected(let failures, let since), .broke(let chance)):
      // A connection that lasted as long as the longest pause resets the back-off. This limits the retries to a daemon
      // that accepts every connection and drops it at once.
      return wait(after: (since.duration(to: now) < ReconnectBackOff.longest ? failures : 0) + 1, chance, at: now)
    case (.waiting(let failures, let until), .timePassed) where now >= until:
      state = .connecting(failures: failures, until: now + ReconnectBackOff.patience)
      return .connect
    case (.connecting, .closed), (.connected, .closed), (.waiting, .closed): return end()
    case (.closed, _), (.connecting, _), (.connected, _), (.waiting, _): return nil
    }
  }

  private mutating func wait(after failures: Int, _ chance: Double, at now: ContinuousClock.Instant) -> Effect {
    let pause = ReconnectBackOff.pause(after: failures, chance: chance)
    state = .waiting(failures: failures, until: now + pause)
    return .disconnect(retryingIn: pause)
  }

  private mutating func end() -> Effect {
    state = .closed
    return .end
  }
}

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
