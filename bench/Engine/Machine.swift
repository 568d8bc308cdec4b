import Glibc
import RefreshEngine
import Simulator

/// The engine on virtual time with a fleet: every refresh that it starts ends at once, and the user comes and goes.
struct Machine {
  let fleet: Fleet
  private(set) var engine: Engine
  private(set) var now = Fleet.begin
  /// Every event of ``live(until:)``, each with the question when to wake next that follows it in the daemon.
  private(set) var events = Stopwatch()
  /// How often it was woken and something started.
  private(set) var wakes = 0
  /// The windows of the background refreshes that time started, if they are kept.
  private(set) var windows: [Window] = []
  private let keepsWindows: Bool
  private var syncs: [Instant]
  private var chance = Chance(seed: 2)

  /// Takes the fleet up; a network of whose price nobody speaks is there, as much as the apps want.
  init(_ fleet: Fleet, plannedIn hours: Range<Double>, keepsWindows: Bool = false) {
    var fleet = fleet
    self.keepsWindows = keepsWindows
    syncs = Array(repeating: Fleet.begin - .hours(4), count: fleet.ids.count)
    engine = Engine(
      start: 1, spread: Spread(machine: 7), states: fleet.states(plannedIn: hours), wallOffset: Fleet.wallOffset,
      learned: fleet.learned())
    self.fleet = fleet
    _ = engine.handle(.observed(.network(Self.network(.no))), at: now)
    var limits = Limits()
    limits.maxConcurrent = 4
    _ = engine.handle(.configured(limits, fleet.policies()), at: now)
  }

  /// The bytes that the bench itself keeps for an app: its id in a list, and when it was refreshed last.
  static let bytesAnApp = MemoryLayout<AppID>.stride + MemoryLayout<Instant>.stride

  /// A network that is metered or not.
  static func network(_ metered: Network.Metered) -> Reading<Network> {
    Reading(Network(metered: metered, medium: .wifi, interface: "wlan0"), source: "NetworkManager")
  }

  /// Takes an event, and ends what it starts; gives how many refreshes that were.
  @discardableResult
  mutating func take(_ event: Event) -> Int {
    var starts = 0
    var due = [event]
    var watch = Stopwatch()
    defer { events = watch }
    swap(&watch, &events)
    while let event = due.popLast() {
      let decision = take(event, timing: &watch)
      for case .start(let refresh, let id, _, _) in decision.effects {
        starts += 1
        due.append(end(of: refresh, id))
      }
    }
    return starts
  }

  /// The end of a refresh that starts now: new data, if the source had some since the last sync.
  mutating func end(of refresh: RefreshID, _ id: AppID) -> Event {
    let place = fleet.place(of: id)
    let gap = Double(syncs[place].duration(to: now).inMicroseconds) / 60e6
    syncs[place] = now
    let isNew = Double.random(in: 0..<1, using: &chance) > Fleet.unchanged(place, for: gap)
    return .taskEnded(refresh, task: 0, TaskEnd(exit: .exited(isNew ? 0 : 100), cpu: .milliseconds(200)))
  }

  /// Takes an event as it comes, with the question when to wake next, and times both.
  mutating func take(_ event: Event, timing watch: inout Stopwatch) -> Decision {
    watch.time {
      let decision = engine.handle(event, at: now)
      _ = engine.nextWake
      return decision
    }
  }

  /// Lets time pass without a user, waking when the engine wants it.
  mutating func pass(until end: Instant) {
    while let wake = engine.nextWake, wake.earliest <= end {
      now = max(now, wake.earliest)
      if keepsWindows { noteWindows() }
      if take(.wokeUp) > 0 { wakes += 1 }
    }
    now = max(now, end)
  }

  /// Lets time pass up to a wake that the caller takes.
  mutating func pass(toWakeAt instant: Instant) { now = max(now, instant) }

  /// Ends what a decision has started.
  mutating func end(all decision: Decision) {
    for case .start(let refresh, let id, _, _) in decision.effects { take(end(of: refresh, id)) }
  }

  private mutating func noteWindows() {
    for id in fleet.ids {
      if case .ready = engine.verdict(on: id, at: now), let window = engine.explain(id, at: now)?.window {
        windows.append(window)
      }
    }
  }

  /// Lets time pass with the user, who opens the apps at their times.
  mutating func live(until end: Instant) {
    let most = fleet.ids.indices.map(Fleet.openingsPerDay).max() ?? 1
    while now < end {
      // Candidates come as if each app were the busiest in its busiest minute, and are taken as likely as theirs is.
      let perDay = most * Double(fleet.ids.count) / Fleet.meanLikelihood
      let gap = -log(Double.random(in: .leastNonzeroMagnitude..<1, using: &chance)) / perDay
      pass(until: min(now + .seconds(gap * 86_400), end))
      let place = Int.random(in: fleet.ids.indices, using: &chance)
      let likelihood = Fleet.likelihood(place, at: minuteOfDay) * Fleet.openingsPerDay(place) / most
      if now < end, Double.random(in: 0..<1, using: &chance) < likelihood {
        take(.signalled(fleet.ids[place], .foreground))
        take(.signalled(fleet.ids[place], .background))
      }
    }
  }

  private var minuteOfDay: Double {
    Double((now.microseconds % 86_400_000_000) / 60_000_000)
  }
}
