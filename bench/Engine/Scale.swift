import RefreshEngine
import Simulator

/// The cost of the engine with so many apps: the figures of one column.
struct Scale {
  let apps: Int
  private(set) var bytes = 0
  private(set) var life = Stopwatch()
  private(set) var kinds: [(name: String, watch: Stopwatch)] = []
  private(set) var flip = Stopwatch()
  private(set) var night = Stopwatch()

  private static let samples = 2_000
  private static let eventsOfLife = 60_000.0

  init(apps: Int) {
    self.apps = apps
    _ = Machine(Fleet(apps: 10), plannedIn: 0.1..<8)  // so that what is there once is there already
    let before = residentBytes()
    var machine = Machine(Fleet(apps: apps), plannedIn: 0.1..<8)
    machine.pass(until: machine.now)
    bytes = (residentBytes() - before) / apps - Machine.bytesAnApp
    let hours = min(14 * 24, Self.eventsOfLife / Double(apps))
    machine.live(until: machine.now + .seconds(hours * 3600))
    life = machine.events
    events(&machine)
    wakes(&machine)
    pass(nightOf: &machine)
    flips()
  }

  /// Of apps taken at random: a refresh on demand, its end, the app to the foreground and back, a wake for nothing.
  private mutating func events(_ machine: inout Machine) {
    var chance = Chance(seed: 3)
    var (foreground, background, finish, sync) = (Stopwatch(), Stopwatch(), Stopwatch(), Stopwatch())
    var (start, idle) = (Stopwatch(), Stopwatch())
    for _ in 0..<Self.samples {
      for isPlanned in [true, false] {
        machine.pass(until: machine.now + .milliseconds(10))
        // A start that waits for company comes with any event: not with one that is timed.
        machine.take(.wokeUp)
        let places = machine.fleet.ids.indices
        var place = Int.random(in: places, using: &chance) / 10 * 10
        if isPlanned { place += Int.random(in: 1..<10, using: &chance) }
        let id = machine.fleet.ids[min(place, places.count - 1)]
        let decision = machine.take(.requested(id, .manual), timing: &start)
        for case .start(let refresh, _, _, _) in decision.effects {
          let end = machine.end(of: refresh, id)
          if isPlanned { _ = machine.take(end, timing: &sync) } else { _ = machine.take(end, timing: &finish) }
        }
        _ = machine.take(.signalled(id, .foreground), timing: &foreground)
        _ = machine.take(.signalled(id, .background), timing: &background)
        _ = machine.take(.wokeUp, timing: &idle)
      }
    }
    kinds = [
      ("signal foreground", foreground), ("signal background", background), ("start on demand", start),
      ("finish without a plan", finish), ("sync with its plan", sync), ("wake for nothing", idle),
    ]
  }

  /// Wakes whose apps are due, but held by the price of the network; the time is that of one such app.
  private mutating func wakes(_ machine: inout Machine) {
    var held = Stopwatch()
    machine.take(.observed(.network(Machine.network(.yes))))
    let end = machine.now + .hours(4)
    while held.count < Self.samples, let wake = machine.engine.nextWake, wake.latest <= end {
      let before = machine.engine.heldCounts(at: machine.now)[.network] ?? 0
      machine.pass(toWakeAt: wake.latest)
      var one = Stopwatch()
      _ = machine.take(.wokeUp, timing: &one)
      let apps = (machine.engine.heldCounts(at: machine.now)[.network] ?? 0) - before
      if apps > 0 { held.add(one.total / Double(apps)) }
    }
    machine.take(.observed(.network(Machine.network(.no))))
    kinds.append(("wake to a hold, each app", held))
  }

  /// The next night, slice by slice.
  ///
  /// A slice that falls on refreshes which are due starts them too; it is not counted.
  private mutating func pass(nightOf machine: inout Machine) {
    let day = Duration.hours(24).inMicroseconds
    let midnight = Instant(microseconds: (machine.now.microseconds / day + 1) * day)
    machine.pass(until: midnight - .seconds(1))
    let end = midnight + .minutes(16)
    while let wake = machine.engine.nextWake, wake.earliest <= end {
      machine.pass(toWakeAt: wake.earliest)
      guard machine.engine.roundWake.map({ $0.earliest <= machine.now }) == true else {
        machine.take(.wokeUp)
        continue
      }
      var slice = Stopwatch()
      let decision = machine.take(.wokeUp, timing: &slice)
      if decision.effects.isEmpty { night.add(slice.total) }
      machine.end(all: decision)
    }
  }

  /// All apps are due and wait for a network that is not metered: it comes and goes, while the first refreshes run.
  private mutating func flips() {
    var machine = Machine(Fleet(apps: apps), plannedIn: -0.9 ..< -0.1)
    machine.take(.observed(.network(Machine.network(.yes))))
    machine.pass(until: machine.now + .minutes(30))
    for _ in 0..<5 {
      for metered in [Network.Metered.no, .yes] {
        _ = machine.take(.observed(.network(Machine.network(metered))), timing: &flip)
      }
    }
  }
}
