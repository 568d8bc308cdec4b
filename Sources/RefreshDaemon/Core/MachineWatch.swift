import RefreshConfig
import RefreshEngine
import Systemd

/// Watches the machine's conditions, its sleep and its time zone for the engine.
final class MachineWatch: DecisionFollower {
  private unowned let core: DaemonCore
  private let ports: Ports
  /// How local time follows from wall time; nil while no app needs to know.
  private var zone: (any ZoneSource)?
  /// Whether the machine waits for refreshes before it sleeps.
  private var delaysSleep = false
  /// Lets the machine sleep although something still runs.
  private var sleepTimer: (any WakeTimer)?

  init(_ core: DaemonCore, _ ports: Ports) { (self.core, self.ports) = (core, ports) }

  /// Begins to hand the sources' reports to the engine.
  func open(onSessions: @escaping (Set<UInt32>) -> Void) throws(SystemdError) {
    sleepTimer = try core.scheduler.timer { [unowned self] in ports.conditions.delaySleep(false) }
    ports.conditions.onChange = { [unowned self] in core.handle(.observed($0)) }
    ports.conditions.onSessions = onSessions
    ports.conditions.onSleep = { [unowned self] in sleep($0) }
  }

  /// Watches what a configuration and the parts need, and nothing else: an unwatched source wakes nobody.
  ///
  /// Called before a new configuration is in force, so that the engine knows the conditions when it first judges. The
  /// condition of a source that cannot be watched stays unknown.
  func watch(_ needs: ConditionNeeds, for configuration: ConfigurationInForce) {
    do throws(SystemdError) {
      try ports.conditions.start(needs: needs, facts: configuration.namedFacts)
      if zone == nil, configuration.apps.contains(where: { $0.policy.quiet != nil || $0.policy.isAdaptive }) {
        let zone = try ports.zone()
        zone.onZone = { [unowned self] in core.handle(.zoneChanged($0)) }
        self.zone = zone
        core.handle(.zoneChanged(zone.zone))
      }
    } catch {
      ports.journal.cannotWatch(error)
    }
  }

  func engineDecided(_ decision: Decision, on event: Event, at now: Instant) {
    delaySleep()
    if case .clockStepped = event { zone?.look() }
  }

  /// Has the machine wait before it sleeps while anything runs.
  private func delaySleep() {
    let isDelayed = core.engine.isBusy
    guard isDelayed != delaysSleep else { return }
    delaysSleep = isDelayed
    ports.conditions.delaySleep(isDelayed)
  }

  /// Ends what runs before the machine sleeps, for as long as logind waits, or goes on when the machine is awake.
  private func sleep(_ isAsleep: Bool) {
    guard isAsleep else {
      sleepTimer?.disarm()
      // The lock was given back for this sleep; what still runs needs it for the next.
      delaysSleep = false
      return core.handle(.resumed)
    }
    let end = core.readClocks() + .microseconds(ports.conditions.timeToSleep)
    core.handle(.suspending(until: end))
    // A process that does not end in time sleeps too; it gets its outcome when the machine is awake.
    sleepTimer?.arm(at: (end + .milliseconds(200)).microseconds, accuracy: 1000)
  }
}

extension ConfigurationInForce {
  /// The facts that the apps' files name.
  fileprivate var namedFacts: Set<NamedFact> { Set(apps.flatMap(\.policy.constraints.namedFacts)) }

  /// The conditions that the apps need to be watched.
  var conditionNeeds: ConditionNeeds {
    var needs: ConditionNeeds = []
    for app in apps {
      let constraints = app.policy.constraints
      for constraint in Constraint.allCases where constraints.asks(for: constraint) {
        needs.formUnion(ConditionNeed.needs(of: constraint))
      }
    }
    switch limits.powerSaver {
    case .ignore: break
    case .dearer: if apps.contains(where: \.policy.isAdaptive) { needs.insert(.powerSaver) }
    case .stop: needs.insert(.powerSaver)
    }
    if apps.contains(where: followsSessions) { needs.insert(.sessions) }
    return needs
  }
}
