import RefreshEngine
import Testing

/// A guard, its keepers and its unit in a random world: networks, persons, crashes.
private struct GuardWorld {
  /// The faults of a driver, for the promises to find.
  enum Fault { case none, forgetsKept, losesEnds }

  struct Keeper {
    var isKept: Bool
    var isReturning: Bool
  }

  let id: AppID
  let fault: Fault
  var engine: Engine
  var now = Instant(microseconds: 0)
  var keepers: [RunID: Keeper] = [:]
  /// Whether the unit runs, and whether a person wants it to.
  var (runs, isWanted) = (true, true)
  var (isMetered, isDisabled) = (false, false)
  var starts: UInt32 = 1
  var seed: UInt64

  init(_ seed: UInt64, _ fault: Fault) throws {
    (self.seed, self.fault) = (seed &* 0x9e37_79b9_7f4a_7c15 &+ 1, fault)
    id = try #require(AppID("app.sync"))
    engine = Engine(start: 1, spread: Spread(machine: 7), states: [:], wallOffset: .zero)
    configure()
  }

  /// The next number of a stable series.
  mutating func chance(_ bound: UInt64) -> UInt64 {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (seed >> 33) % bound
  }

  mutating func configure() {
    var policy = Policy(foregroundInterval: .never, backgroundInterval: .never, tasks: [])
    policy.constraints.network = .unmetered
    policy.guarded = GuardedUnit("sync.service")
    handle(.configured(Limits(), [id: policy]))
    observe()
  }

  mutating func observe() {
    let network = Network(reach: .full, metered: isMetered ? .yes : .no, medium: .wifi)
    handle(.observed(.network(Reading(network, source: "test"))))
  }

  mutating func handle(_ event: Event) {
    for effect in engine.handle(event, at: now).effects {
      switch effect {
      case .keep(let run, _, let isKept): keepers[run.id] = Keeper(isKept: isKept, isReturning: false)
      case .giveBack(let run, _, _):
        keepers[run.id] = keepers[run.id] ?? Keeper(isKept: true, isReturning: true)
        keepers[run.id]?.isReturning = true
      default: break
      }
    }
  }

  private func run(_ key: RunID) -> Run { Run(key, of: id, for: .keeper) }

  /// Lets every keeper do its work.
  mutating func work() {
    for (key, keeper) in keepers.sorted(by: { $0.key < $1.key }) {
      if keeper.isReturning {
        if keeper.isKept { runs = true }
        keepers[key] = nil
        if fault != .losesEnds { handle(.keeperEnded(run(key), .returned(trouble: nil))) }
      } else if runs {
        keepers[key]?.isKept = true
        handle(.keeperReported(run(key), isKept: true, text: "stopping"))
        runs = false
      }
    }
  }

  mutating func crash() {
    var states = engine.state(of: id).map { [id: $0] } ?? [:]
    if fault == .forgetsKept { states[id]?.keptUnit = nil }
    starts += 1
    keepers = [:]
    engine = Engine(start: starts, spread: Spread(machine: 7), states: states, wallOffset: .zero)
    configure()
  }

  mutating func step() {
    now = now + .milliseconds(Int64(chance(20_000)))
    handle(.wokeUp)
    switch chance(9) {
    case 0, 1: isMetered.toggle(); observe()
    case 2: isDisabled.toggle(); handle(.disabled(id, isDisabled))
    // A stop of a unit that is kept already cannot be told from the keeper's.
    case 3: if runs, keepers.isEmpty, !isOwed { (runs, isWanted) = (false, false) }
    case 4: (runs, isWanted) = (true, true)
    case 5: crash()
    case 6: if let key = keepers.keys.min() { keepers[key] = nil; handle(.keeperEnded(run(key), .failed("killed"))) }
    default: handle(.wokeUp)
    }
    if chance(3) > 0 { work() }
  }

  var isOwed: Bool { engine.guardState(of: id)?.isKept == true }

  /// The promise that is broken now, or nil.
  var broken: String? {
    if keepers.count > 1 { return "two keepers of one unit" }
    let isKeeping = keepers.values.contains { !$0.isReturning }
    if case .clear = engine.verdict(on: id, at: now), isKeeping { return "it is kept while nothing holds it" }
    return nil
  }

  /// Ends all that holds the unit, and gives what is broken after a while.
  mutating func heal() -> String? {
    if isMetered { isMetered = false; observe() }
    if isDisabled { isDisabled = false; handle(.disabled(id, false)) }
    for _ in 0..<200 {
      work()
      now = now + .seconds(5)
      handle(.wokeUp)
    }
    work()
    if engine.verdict(on: id, at: now) != .clear { return "it is held for ever" }
    if !keepers.isEmpty { return "its keeper does not end" }
    if isOwed { return "it is owed for ever" }
    return runs == isWanted ? nil : "the unit \(runs ? "runs" : "does not run") against a person's word"
  }

  /// The first promise that is broken.
  static func play(_ seed: UInt64, _ fault: Fault = .none) throws -> String? {
    var world = try GuardWorld(seed, fault)
    for _ in 0..<60 {
      world.step()
      if let broken = world.broken { return "seed \(seed): \(broken)" }
    }
    return world.heal().map { "seed \(seed): \($0)" }
  }
}

@Suite struct GuardsAtRandomTests {
  @Test func `Whatever happens, the unit runs in the end as a person left it`() throws {
    for seed in 0..<400 {
      let broken = try GuardWorld.play(UInt64(seed))
      #expect(broken == nil)
    }
  }

  @Test func `A driver that forgets what it has stopped, or loses the end of a keeper, is found`() throws {
    for fault in [GuardWorld.Fault.forgetsKept, .losesEnds] {
      #expect(try (0..<400).contains { try GuardWorld.play(UInt64($0), fault) != nil })
    }
  }
}
