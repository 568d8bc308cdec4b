/// The least time between two refreshes of an app in a phase.
public enum Interval: Hashable, Sendable {
  /// No refresh by time in this phase; other triggers still work.
  case never
  /// As often as the limits allow: the floor of the phase in ``Limits``.
  case minimum
  /// At least this long after the last start, and never shorter than the phase's floor.
  case every(Duration)
}

extension Interval {
  /// Reads `never` or `minimum`; nil for any other text.
  public init?(word: String) {
    switch word {
    case "never": self = .never
    case "minimum": self = .minimum
    default: return nil
    }
  }

  /// The interval as `never`, `minimum` or the text of its duration.
  public func text(_ textOfDuration: (Duration) -> String) -> String {
    switch self {
    case .never: "never"
    case .minimum: "minimum"
    case .every(let duration): textOfDuration(duration)
    }
  }

  /// The least time between two starts: the interval, but not below the floor; nil for `never`.
  public func spacing(floor: Duration) -> Duration? {
    switch self {
    case .never: nil
    case .minimum: floor
    case .every(let duration): max(duration, floor)
    }
  }
}

extension App {
  /// The interval in force in a phase: the override, else the file's; nil if none applies.
  func interval(in phase: Phase) -> Interval? {
    guard let policy else { return nil }
    return switch phase {
    case .foreground: state.overrides.foregroundInterval ?? policy.foregroundInterval
    case .background: state.overrides.backgroundInterval ?? policy.backgroundInterval
    case .loggedOut: nil
    }
  }

  /// The least time between two starts in a phase: the interval, but not below the floor; nil for `never`.
  func spacing(in phase: Phase, limits: Limits) -> Duration? {
    let floor = phase == .foreground ? limits.foregroundFloor : limits.backgroundFloor
    return switch interval(in: phase) {
    case nil, .never: nil
    case .minimum: floor
    case .every(let duration): max(duration, floor)
    }
  }
}
