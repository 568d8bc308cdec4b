/// A reason that keeps an app from being refreshed.
public enum Hold: Hashable, Sendable {
  /// No file in force names the app.
  case notConfigured
  /// The app's file has a mistake, in this sentence; a corrected file lifts the hold.
  case misconfigured(String)
  /// The app is logged out; `login` lifts it.
  case loggedOut
  /// The user has disabled the app; `enable` lifts it.
  case disabled
  /// The user has paused all apps; `resume` lifts it, or the end of the pause.
  case paused(Pause)
  /// The interval of the phase is `never`; another phase or interval, or a request, lifts it.
  case never
  /// The app's quiet hours, until this instant, boot clock.
  case quiet(until: Instant)
  /// A constraint of the app is not met; the condition lifts it, or its relaxation at this instant, boot clock.
  case constraint(Constraint, relaxedAt: Instant?)
  /// A power-saver profile is on, and the configuration stops background work meanwhile.
  case powerSaver
  /// The machine has just started or woken up, until this instant, boot clock.
  case settling(until: Instant)
  /// Nothing else holds a guard's unit; that must last until this instant, boot clock.
  case unsteady(until: Instant)
  /// Ended sessions of transfers have woken the app as often as they may, until this instant, boot clock.
  case wakeLimit(until: Instant)
  /// The machine is going to sleep; the resume lifts it.
  case suspending
  /// The app has neither a command nor an attached process, or its command waits until this instant, boot clock, for the
  /// process that was attached before the daemon's start; a process that attaches lifts it.
  case noPerformer(until: Instant?)
  /// As many refreshes run as the limits allow.
  case concurrency
  /// The daemon is stopping; its next start lifts it.
  case stopping

  /// Its name, as it is stored and shown.
  public var name: Name {
    switch self {
    case .notConfigured: .notConfigured
    case .misconfigured: .misconfigured
    case .loggedOut: .loggedOut
    case .disabled: .disabled
    case .paused: .paused
    case .never: .never
    case .quiet: .quiet
    case .constraint(.network, _): .network
    case .constraint(.power, _): .power
    case .constraint(.idle, _): .idle
    case .constraint(.calm, _): .calm
    case .constraint(.mounted, _): .mounted
    case .constraint(.present, _): .present
    case .constraint(.reachable, _): .reachable
    case .constraint(.when, _): .when
    case .powerSaver: .powerSaver
    case .settling: .settling
    case .unsteady: .unsteady
    case .wakeLimit: .wakeLimit
    case .suspending: .suspending
    case .noPerformer: .noPerformer
    case .concurrency: .concurrency
    case .stopping: .stopping
    }
  }

  /// The names of holds.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    case notConfigured = "not-configured"
    case misconfigured
    case loggedOut = "logged-out"
    case disabled
    case paused
    case never
    case quiet
    case network
    case power
    case idle
    case calm
    case mounted
    case present
    case reachable
    case when
    case powerSaver = "power-saver"
    case settling
    case unsteady
    case wakeLimit = "wake-limit"
    case suspending
    case noPerformer = "app"
    case concurrency
    case stopping
  }
}
