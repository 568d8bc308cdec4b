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

/// Intervals set at run time, which take the place of the file's until they are reset.
public struct Overrides: Hashable, Sendable {
  /// In place of the file's foreground interval, if set.
  public var foregroundInterval: Interval?
  /// In place of the file's background interval, if set.
  public var backgroundInterval: Interval?

  /// Makes overrides; nothing is overridden by default.
  public init(foregroundInterval: Interval? = nil, backgroundInterval: Interval? = nil) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
  }
}

extension Engine {
  /// Sets an app's intervals in place of its file's.
  mutating func override(_ id: AppID, _ overrides: Overrides, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].state.overrides != overrides else { return }
    let isConfigured = apps[index].policy != nil
    let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    apps[index].state.overrides = overrides
    dropOutdated(index, wasConfigured: isConfigured, spacingBefore: spacing, &turn)
    planner.consider(apps[index], judge, now: turn.now)
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.apps.insert(id)
  }

  /// Drops the request of an interval that is no longer in force; the new interval makes its own.
  ///
  /// After a start of the daemon the earlier interval is unknown. Then a request stays if the present interval allows it,
  /// such as the request of an app in a backlog.
  mutating func dropOutdated(
    _ index: AppIndex, wasConfigured: Bool, spacingBefore: Duration?, _ turn: inout Turn
  ) {
    guard let request = apps[index].state.request, request.trigger.isByTime else { return }
    let spacing = apps[index].spacing(in: apps[index].phase, limits: judge.limits)
    let isOutdated: Bool
    if wasConfigured {
      isOutdated = spacingBefore != spacing
    } else if let spacing {
      isOutdated = apps[index].state.lastStart.map { request.earliest < $0 + spacing } ?? false
    } else {
      isOutdated = true
    }
    if isOutdated { dropRequest(of: index, &turn) }
  }
}

// Strikes: an app that overruns its deadline three times within a day rests for a day.

extension App {
  /// How many overruns of the deadline within ``strikeSpan`` make an app rest for as long.
  static let strikesToRest = 3
  static let strikeSpan = Duration.hours(24)

  /// Until when the app rests after repeated overruns of its deadline; nil while it does not rest.
  var restsUntil: Instant? {
    guard state.strikes.count >= Self.strikesToRest, let first = state.strikes.first,
      let last = state.strikes.last
    else { return nil }
    return first.duration(to: last) <= Self.strikeSpan ? last + Self.strikeSpan : nil
  }
}

extension Engine {
  /// Counts a strike: the app overran its deadline.
  mutating func strike(_ index: AppIndex, at now: Instant) {
    apps[index].state.strikes.append(now)
    if apps[index].state.strikes.count > App.strikesToRest { apps[index].state.strikes.removeFirst() }
  }
}
