/// The window in which the daemon's one wake timer may go off.
public struct Window: Hashable, Sendable {
  /// The first instant with work, boot clock; it may have passed.
  public var earliest: Instant
  /// The last instant for the work, boot clock.
  ///
  /// The same as `earliest` while nothing may wait.
  public var latest: Instant

  /// Makes a window.
  public init(earliest: Instant, latest: Instant) {
    self.earliest = earliest
    self.latest = latest
  }

  /// Ends a window, if there is one, at an instant at the latest, so that its wake serves both.
  init(_ window: Window?, ending end: Instant) {
    self.init(earliest: min(window?.earliest ?? end, end), latest: min(window?.latest ?? end, end))
  }
}

extension Engine {
  /// Computes the next wake, after a change of the engine.
  mutating func noteNextWake() {
    var shared = roundWake
    if let transferWake, shared.map({ transferWake < $0.latest }) ?? true {
      shared = Window(earliest: transferWake, latest: transferWake)
    }
    nextWake = agenda.wake(beside: shared)
  }
}

extension App {
  /// The part of a background refresh's interval that is its window; ``longestWindow`` bounds it.
  ///
  /// There is no shortest window: with a lowered floor, a minute would be longer than some intervals.
  static let windowPart: Int64 = 10
  static let longestWindow = Duration.minutes(15)

  /// How long a background refresh may wait to share a wake: half of its window, and up to the other half by its spread.
  ///
  /// A planned refresh is due an eighth of its window before the planned moment, so these parts are an eighth too.
  func slack(limits: Limits, spread: Spread, of id: AppID) -> Duration {
    guard phase == .background, state.lastStart != nil else { return .zero }
    guard let spacing = spacing(in: .background, limits: limits) else { return .zero }
    // A plan chose a moment before the user comes, so the wait to share a wake must end before that.
    if let planned = plannedInForce, let lastStart = state.lastStart, planned > lastStart + spacing {
      let part = planWindow.part(of: 8)
      return part + spread.offset(of: id, within: part)
    }
    let half = max(min(Self.longestWindow, spacing.part(of: Self.windowPart)), planWindow).part(of: 2)
    return half + spread.offset(of: id, within: half)
  }

  /// How long a planned refresh may wait to share a wake: a tenth of its wait, and no longer than ``longestWindow``.
  var planWindow: Duration {
    guard let planned = plannedInForce, let lastStart = state.lastStart else { return .zero }
    return min(Self.longestWindow, max(.zero, lastStart.duration(to: planned)).part(of: Self.windowPart))
  }
}
