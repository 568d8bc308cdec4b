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
