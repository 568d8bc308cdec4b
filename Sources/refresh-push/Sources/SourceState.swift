/// The state machine of a source's connection, with the time of the next try.
///
///     idle -> trying -> connected -> waiting -> trying …
///
/// A pure value, so that a test can pass an hour in no time. Instants are of the boot clock.
struct SourceState: Hashable, Sendable {
  /// The phases of a connection.
  enum Stage: Hashable, Sendable {
    /// The source connects as soon as the daemon allows the network.
    case idle
    /// The source is connecting.
    case trying
    /// The source can receive messages.
    case connected
    /// The source tries again at that time.
    case waiting(until: ContinuousClock.Instant)
    /// The server wants no more requests.
    case ended
  }

  private(set) var phase = Stage.idle
  /// The start of the present connection or of the time without one.
  private(set) var since: ContinuousClock.Instant
  /// The reason for the missing connection; nil while connected, and before the first try.
  private(set) var problem: String?
  private var backOff = SourceBackOff()

  init(at now: ContinuousClock.Instant) { since = now }

  var isConnected: Bool { phase == .connected }

  /// Whether the source is connected or connecting.
  var isActive: Bool { phase == .connected || phase == .trying }

  /// The time of the next try; nil if it does not depend on time.
  var retry: ContinuousClock.Instant? { if case .waiting(let until) = phase { until } else { nil } }

  /// Whether the source should connect now, if the network may be used.
  func isDue(at now: ContinuousClock.Instant) -> Bool {
    switch phase {
    case .idle: true
    case .waiting(let until): until <= now
    case .trying, .connected, .ended: false
    }
  }

  /// The source starts to connect.
  mutating func beginTry() { phase = .trying }

  /// The source is connected.
  mutating func connect(at now: ContinuousClock.Instant) {
    phase = .connected
    since = now
    problem = nil
  }

  /// The connection or the attempt failed.
  mutating func fail(
    _ why: String, next: NextTry, at now: ContinuousClock.Instant, _ chance: inout some RandomNumberGenerator
  ) {
    if isConnected {
      if since + SourceBackOff.stable <= now { backOff.reset() }
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

  /// The bridge disconnected the source.
  mutating func disconnect(_ why: String, at now: ContinuousClock.Instant) {
    if isConnected { since = now }
    if isActive { problem = why }
    if isActive { phase = .idle }
  }

  /// The network has changed: failures on the old one do not count.
  mutating func resetForNewNetwork() {
    backOff.reset()
    if case .waiting = phase { phase = .idle }
  }
}
