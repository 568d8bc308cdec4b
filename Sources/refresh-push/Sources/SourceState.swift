import RefreshEngine

/// The state machine of a source's connection, with the time of the next try.
///
///     idle -> trying -> connected -> waiting -> trying …
///
/// A pure value, so that a test can pass an hour without waiting. Instants are of the boot clock.
struct SourceState: Hashable, Sendable {
  /// The stages of a connection.
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

  private(set) var stage = Stage.idle
  /// The start of the current connection, or of the time without a connection.
  private(set) var since: ContinuousClock.Instant
  /// The reason why the source is not connected, or what a connected source cannot deliver; nil if there is no problem.
  private(set) var problem: String?
  private var backOff = SourceBackOff()

  init(at now: ContinuousClock.Instant) { since = now }

  var isConnected: Bool { stage == .connected }

  /// Whether the source is connected or connecting.
  var isActive: Bool { stage == .connected || stage == .trying }

  /// The time of the next try; nil if it does not depend on time.
  var retry: ContinuousClock.Instant? { if case .waiting(let until) = stage { until } else { nil } }

  /// Whether the source should connect now, if the network may be used.
  func isDue(at now: ContinuousClock.Instant) -> Bool {
    switch stage {
    case .idle: true
    case .waiting(let until): until <= now
    case .trying, .connected, .ended: false
    }
  }

  /// The source starts to connect.
  mutating func beginTry() { stage = .trying }

  /// The source is connected.
  mutating func connect(at now: ContinuousClock.Instant) {
    stage = .connected
    since = now
    problem = nil
  }

  /// The source is connected but cannot deliver all of its messages; nil if it can.
  mutating func limit(_ why: String?) { if isConnected { problem = why } }

  /// The source has delivered something new: earlier failures do not count.
  mutating func bring() { backOff.reset() }

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
    case .backOff: stage = .waiting(until: now + backOff.next(&chance))
    case .notBefore(let pause): stage = .waiting(until: now + max(pause, backOff.next(&chance)))
    case .asPlanned(let pause):
      backOff.reset()
      stage = .waiting(until: now + max(pause, backOff.next(&chance)))
    case .longest: stage = .waiting(until: now + backOff.last(&chance))
    case .never: stage = .ended
    }
  }

  /// The bridge disconnected the source.
  mutating func disconnect(_ why: String, at now: ContinuousClock.Instant) {
    if isConnected { since = now }
    if isActive { problem = why }
    if isActive { stage = .idle }
  }

  /// The network has changed: failures on the old one do not count.
  mutating func resetForNewNetwork() {
    backOff.reset()
    if case .waiting = stage { stage = .idle }
  }
}

/// The back-off of a connection: 1 s, doubling, with full jitter.
///
/// The wait is a random part of the bound, so that the many clients of a failed server do not return together.
struct SourceBackOff: Hashable, Sendable {
  /// The bound of the first wait.
  var first = Duration.seconds(1)
  /// The largest bound.
  var longest = Duration.seconds(300)
  /// The least time of a connection that resets the back-off: less than proxies wait for a word of the server.
  static let stable = Duration.seconds(30)

  private var failures: Int32 = 0

  init() {}

  init(longest: Duration) { self.longest = longest }

  /// The bound of the next wait.
  var bound: Duration { BackOff(first: first, longest: longest, mostFailures: 26).wait(after: failures + 1) }

  /// Counts a failure, and returns the time to wait.
  mutating func next(_ chance: inout some RandomNumberGenerator) -> Duration {
    defer { failures += 1 }
    return .random(in: .zero...bound, &chance)
  }

  /// The time to wait if an early try is unlikely to succeed: between half of the longest wait and all of it.
  mutating func last(_ chance: inout some RandomNumberGenerator) -> Duration {
    failures = max(failures, 25)
    return .random(in: longest / 2...longest, &chance)
  }

  /// Forgets the failures.
  mutating func reset() { failures = 0 }
}

extension Duration {
  /// A random duration of a range, in whole milliseconds.
  fileprivate static func random(
    in range: ClosedRange<Duration>, _ chance: inout some RandomNumberGenerator
  ) -> Duration {
    .milliseconds(Int64.random(in: range.lowerBound.milliseconds...range.upperBound.milliseconds, using: &chance))
  }

  /// The number of whole milliseconds.
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
  /// The number of whole microseconds.
  var microseconds: Int64 { components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000 }
}
