import RefreshEngine

struct ProspectsAreTrue: Invariant {
  static let promise = "What is said of an app's next start and of what holds it is what happens, if only time passes."
  /// The number of turns between two checks, because a look ahead takes long; each pause, which is rare, is checked too.
  private static let every = 499
  private var turns = 0

  mutating func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled(let turn) = observation, let brain = world.brain else { return nil }
    turns += 1
    let isPaused = if case .paused(.some) = turn.event { true } else { false }
    guard isPaused || turns % Self.every == 0 else { return nil }
    var said: [AppID: Prospect] = [:]
    var nights = NightsAhead(from: world.instant)
    for id in world.ids { said[id] = brain.prospect(of: id, at: world.instant, &nights) }
    return Foretold.lie(of: brain.engine, said, at: world.instant, for: .hours(26))
  }
}
