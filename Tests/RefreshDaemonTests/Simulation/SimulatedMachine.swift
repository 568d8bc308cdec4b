import RefreshConfig
import RefreshEngine
import Systemd

@testable import RefreshDaemon

/// The machine as its message bus reports it to a daemon: late, or not at all.
final class SimulatedMachine: MachineConditions {
  private weak var observer: (any MachineObserver)?
  let timeToSleep: Int64 = 4_000_000
  private unowned let world: SimulatedWorld
  private var watched: ConditionNeeds = []

  init(_ world: SimulatedWorld) { self.world = world }

  /// Reports to the daemon from now on.
  func report(to observer: any MachineObserver) -> SimulatedMachine {
    self.observer = observer
    return self
  }

  private func onChange(_ observation: Observation) {
    if world.fault != .doesNotHearConditions { observer?.observed(observation) }
  }

  func onSleep(_ isAsleep: Bool) { if world.fault != .doesNotHearSleep { observer?.sleeps(isAsleep) } }

  func onSessions(_ users: Set<UInt32>) {
    let isDeaf = world.fault == .doesNotHearLogouts
    observer?.sessionsChanged(isDeaf ? users.union([SimulatedSessions.user]) : users)
  }

  func start(needs: ConditionNeeds, facts: Set<NamedFact>) {
    guard world.calling() != nil else { return }
    let (new, gone) = (needs.subtracting(watched), watched.subtracting(needs))
    watched = needs
    if gone.contains(.network) { onChange(.network(Reading())) }
    if gone.contains(.power) { onChange(.power(Reading())) }
    if new.contains(.sessions) {
      world.later(world.fate.duration(.zero ... .seconds(2))) { [unowned world] in world.sessions.report() }
    }
    guard !new.isDisjoint(with: [.network, .power]) else { return }
    // A source that already knows answers at once, so that a reload has a wake in its middle.
    if world.chance.happens(30) { return report() }
    world.later(world.chance.duration(.zero ... .seconds(2))) { [unowned self] in report() }
  }

  func delaySleep(_ isDelayed: Bool) {}

  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) { world.sessions.ask(answer) }

  /// Reports the conditions that the daemon watches, as they are now.
  func report() {
    if watched.contains(.network) {
      world.note("network \(world.network.map { "\($0.reach)" } ?? "unknown")")
      world.offlineSince = world.network?.reach == .offline ? world.offlineSince ?? (world.now, world.excused) : nil
      world.keepers.book.network = world.network
      onChange(.network(Reading(world.network, source: world.network == nil ? "" : "bus", problem: nil)))
    }
    if watched.contains(.power) {
      onChange(.power(Reading(Power(onBattery: world.isOnBattery, percent: 50), source: "bus")))
    }
  }
}

/// A zone without daylight saving.
final class SimulatedZone: ZoneSource {
  let zone: Zone

  init(offset: Int32) { zone = Zone(offset: offset) }

  func look() {}
}

/// The configuration on a disk that takes a moment.
final class SimulatedFiles: ConfigurationFiles {
  let directories: [String] = []
  private unowned let world: SimulatedWorld
  private let settings: DaemonSettings

  init(_ world: SimulatedWorld, _ settings: DaemonSettings) { (self.world, self.settings) = (world, settings) }

  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {
    let result = Result { () throws(ConfigurationError) in
      try world.sessions.load(settings, by: Configuration.loadAtStart)
    }
    world.later(world.chance.duration(.zero ... .seconds(1))) { answer(result) }
  }

  func problems(then answer: @escaping ([Problem]) -> Void) { answer([]) }

  func giveUp() {}
}
