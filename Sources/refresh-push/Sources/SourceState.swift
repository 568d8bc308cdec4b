/// Whether a source is connected, and when it is to try again.
///
///     idle -> trying -> connected -> waiting -> trying …
///
/// A value, so that an hour without a server can be tested in no time. Instants are of the boot clock.
struct SourceState: Hashable, Sendable {
  typealias Instant = ContinuousClock.Instant

  /// How it stands with the connection.
  enum Phase: Hashable, Sendable {
    /// It is to try as soon as it may.
    case idle
    /// It tries.
    case trying
    /// Messages can come.
    case connected
    /// It tries again then.
    case waiting(until: Instant)
    /// The server wants no more questions.
    case ended
  }

  private(set) var phase = Phase.idle
  /// Since when it is connected, or is not.
  private(set) var since: Instant
  /// Why it is not; nil while it is, and while nobody has tried.
  private(set) var problem: String?
  private var backOff = BackOff()

  init(at now: Instant) { since = now }

  var isConnected: Bool { phase == .connected }

  /// Whether the source has a connection, or tries to have one.
  var isEngaged: Bool { phase == .connected || phase == .trying }

  /// When it is to try again; nil if that does not hang on time.
  var retry: Instant? { if case .waiting(let until) = phase { until } else { nil } }

  /// Whether it is to try now, if it may.
  func isDue(at now: Instant) -> Bool {
    switch phase {
    case .idle: true
    case .waiting(let until): until <= now
    case .trying, .connected, .ended: false
    }
  }

  /// It begins to connect.
  mutating func tries() { phase = .trying }

  /// Messages can come from now on.
  mutating func connects(at now: Instant) {
    phase = .connected
    since = now
    problem = nil
  }

  /// The connection is gone, or the attempt at one.
  mutating func loses(
    _ why: String, next: NextTry, at now: Instant, _ chance: inout some RandomNumberGenerator
  ) {
    if isConnected {
      if since + BackOff.stable <= now { backOff.reset() }
      since = now
    }
    problem = why
    switch next {
    case .backOff: phase = .waiting(until: now + backOff.next(&chance))
    case .notBefore(let pause): phase = .waiting(until: now + max(pause, backOff.next(&chance)))
    case .longest: phase = .waiting(until: now + backOff.last(&chance))
    case .never: phase = .ended
    }
  }

  /// It was disconnected because the network may not be used.
  mutating func rests(_ why: String, at now: Instant) {
    if isConnected { since = now }
    if isEngaged { problem = why }
    if isEngaged { phase = .idle }
  }

  /// The network is another one: what was learnt on the old one does not count.
  mutating func changesNetwork() {
    backOff.reset()
    if case .waiting = phase { phase = .idle }
  }
}
