import RefreshEngine

/// Measures how long a state lasts while the daemon runs and the machine is awake.
private struct Patience {
  private var lasted: [AppID: Duration] = [:]
  private var last: Instant?

  /// Notes the waiting apps, and returns an app that has waited longer than `bound`.
  mutating func note(_ waiting: [AppID], at now: Instant, bound: Duration) -> AppID? {
    let passed = last.map { $0.duration(to: now) } ?? .zero
    last = now
    var next: [AppID: Duration] = [:]
    for id in waiting { next[id] = lasted[id].map { $0 + passed } ?? .zero }
    lasted = next
    return waiting.first { (next[$0] ?? .zero) > bound }
  }

  /// Notes any other observation: a sleep does not count, and a new daemon starts again.
  mutating func note(_ observation: Observation, at now: Instant) {
    switch observation {
    case .resumed: last = now
    case .daemonGone: self = Patience()
    default: break
    }
  }
}

struct NobodyStarves: Invariant {
  static let promise = "Whoever waits for nothing but a place gets one, however busy the others are."
  private var patience = Patience()

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain else {
      patience.note(observation, at: world.instant)
      return nil
    }
    let now = world.instant
    // An app starves while others run.
    let isBusy = brain.engine.refreshingCount > 0
    let waiting = !isBusy ? [] : world.ids.filter { brain.verdict(on: $0, at: now).holds == [.concurrency] }
    // First the foreground may start, and then each other app once.
    let others = world.policies.values.reduce(Duration.zero) { $0 + $1.deadline + $1.grace }
    let bound = Duration.minutes(10) + others + World.patience
    return patience.note(waiting, at: now, bound: bound).map { "\($0) waits for a place for more than \(bound)" }
  }
}

struct NightsPass: Invariant {
  static let promise = "Within a quarter of an hour of midnight the night of every planned app has begun."
  private var patience = Patience()

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain, let id = world.ids.first else {
      patience.note(observation, at: world.instant)
      return nil
    }
    let now = world.instant
    let today = world.book.zone.local((now + world.book.wallOffset).microseconds).day
    let isOwed = brain.engine.roundWake != nil && brain.engine.device.day.map { $0 < today } ?? false
    return patience.note(isOwed ? [id] : [], at: now, bound: .minutes(16)).map { _ in
      "the night before \(today) is owed"
    }
  }
}
