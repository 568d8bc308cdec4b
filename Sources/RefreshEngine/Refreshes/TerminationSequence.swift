/// The end of running processes: SIGTERM, a grace in which they may end by themselves, then SIGKILL.
///
/// A value without a clock: the owner calls ``begin(at:killBy:)`` and ``advance(at:)``, sends the signal that each call
/// gives, and arms a timer for ``wake``.
public struct TerminationSequence: Hashable, Sendable {
  /// A signal to send now.
  public enum Step: Hashable, Sendable {
    /// SIGTERM: ask the processes to end.
    case terminate
    /// SIGKILL: end them.
    case kill
  }

  /// The grace of a worker and of a notify command.
  public static let shortGrace = Duration.seconds(5)

  /// How long the processes may take to end when asked.
  public let grace: Duration
  /// Whether SIGKILL is sent again after each further grace, until the processes are gone.
  public let killsAgain: Bool
  /// Whether SIGTERM was sent.
  public private(set) var isBegun = false
  /// Whether SIGKILL was sent.
  public private(set) var isKilled = false
  /// When the next signal is due, boot clock; nil when none is.
  public private(set) var wake: Instant?

  /// Makes a sequence that has not begun.
  public init(grace: Duration, killsAgain: Bool = false) {
    self.grace = grace
    self.killsAgain = killsAgain
  }

  /// Asks the processes to end, unless they were asked before.
  ///
  /// - Parameter latest: when they must be gone at the latest, boot clock, if that is before the end of the grace.
  @discardableResult
  public mutating func begin(at now: Instant, killBy latest: Instant? = nil) -> Step? {
    guard !isBegun else { return nil }
    isBegun = true
    wake = min(now + grace, latest ?? now + grace)
    return .terminate
  }

  /// The signal that is due; nil when none is.
  public mutating func advance(at now: Instant) -> Step? {
    guard let due = wake, due <= now else { return nil }
    isKilled = true
    wake = killsAgain ? now + grace : nil
    return .kill
  }

  /// Shortens the grace: the processes must be gone at an instant, boot clock.
  public mutating func hasten(killBy latest: Instant) {
    guard isBegun, !isKilled, let due = wake else { return }
    wake = min(due, latest)
  }
}
