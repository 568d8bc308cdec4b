/// The end of running processes: SIGTERM, a grace in which they may end by themselves, then SIGKILL.
///
/// A process that waits for a silent disk or server does not end even after SIGKILL. After ``patience`` the owner gives it
/// up: the process no longer holds a slot.
///
/// A value without a clock: the owner calls ``begin(at:killBy:)`` and ``advance(at:)``, takes each returned step, and arms
/// a timer for ``wake``.
public struct TerminationSequence: Hashable, Sendable {
  /// The next step.
  public enum Step: Hashable, Sendable {
    /// SIGTERM: ask the processes to end.
    case terminate
    /// SIGKILL: end them.
    case kill
    /// No signal ends the processes: give their slot to others.
    case giveUp
  }

  /// The grace of a worker and of a notify command.
  public static let shortGrace = Duration.seconds(5)
  /// How long after the first SIGKILL the processes count as stuck.
  public static let patience = Duration.seconds(10)

  /// How long the processes may take to end after SIGTERM.
  public let grace: Duration
  /// Whether SIGKILL is sent again after each further grace, until the processes are gone.
  public let killsAgain: Bool
  /// Whether SIGTERM was sent.
  public private(set) var isBegun = false
  /// Whether SIGKILL was sent.
  public private(set) var isKilled = false
  /// Whether the processes outlived SIGKILL.
  public private(set) var isGivenUp = false
  /// When the next step is due, boot clock; nil when none is.
  public private(set) var wake: Instant?
  /// When the owner gives up, boot clock; nil before SIGKILL.
  private var givesUpAt: Instant?

  /// Makes a sequence that has not begun.
  public init(grace: Duration, killsAgain: Bool = false) {
    self.grace = grace
    self.killsAgain = killsAgain
  }

  /// Sends SIGTERM, unless it was sent before.
  ///
  /// The processes must be gone at `latest`, boot clock, if that is before the end of the grace.
  @discardableResult
  public mutating func begin(at now: Instant, killBy latest: Instant? = nil) -> Step? {
    guard !isBegun else { return nil }
    isBegun = true
    wake = min(now + grace, latest ?? now + grace)
    return .terminate
  }

  /// The due step; nil if none is due.
  public mutating func advance(at now: Instant) -> Step? {
    guard let due = wake, due <= now else { return nil }
    let again = killsAgain ? now + grace : nil
    guard let end = givesUpAt else {
      isKilled = true
      givesUpAt = now + Self.patience
      wake = min(again ?? now + Self.patience, now + Self.patience)
      return .kill
    }
    if !isGivenUp, end <= now {
      isGivenUp = true
      wake = again
      return .giveUp
    }
    wake = again.map { isGivenUp ? $0 : min($0, end) }
    return .kill
  }

  /// The next step of a sequence that may not have begun; nil when none is due.
  public mutating func beginOrAdvance(at now: Instant) -> Step? { begin(at: now) ?? advance(at: now) }

  /// Brings SIGKILL forward: the processes must be gone at an instant, boot clock.
  public mutating func bringForward(killBy latest: Instant) {
    guard isBegun, !isKilled, let due = wake else { return }
    wake = min(due, latest)
  }
}
