import RefreshConfig
import RefreshEngine
import Systemd

/// Watches the machine's conditions, its sleep and its time zone for the engine.
final class MachineWatch: DecisionObserver, MachineObserver {
  private unowned let core: DaemonCore
  private let ports: Ports
  private let audience: Audience
  private lazy var conditions = ports.conditions(self)
  /// Logs apps in and out with the sessions of their owners.
  private(set) lazy var logins = SessionFollower(core, audience, conditions)
  /// The machine's time zone; nil while no app needs it.
  private var zone: (any ZoneSource)?
  /// Whether the sleep lock is held.
  private var delaysSleep = false
  /// Gives the sleep lock back in time, even if something still runs.
  private var sleepTimer: (any WakeTimer)?

  init(_ core: DaemonCore, _ ports: Ports, _ audience: Audience) {
    (self.core, self.ports, self.audience) = (core, ports, audience)
  }

  func open() throws(SystemdError) {
    sleepTimer = try core.scheduler.timer { [unowned self] in conditions.delaySleep(false) }
  }

  /// Watches the conditions that a configuration and the parts need, and no others: an unwatched source wakes nobody.
  ///
  /// Called before a new configuration is in force, so that the engine knows the conditions when it first judges. A
  /// condition whose source cannot be watched stays unknown.
  func watch(_ needs: ConditionNeeds, for configuration: ConfigurationInForce) {
    do throws(SystemdError) {
      try conditions.start(needs: needs, facts: configuration.namedFacts)
      if zone == nil, !configuration.apps.isEmpty {
        let zone = try ports.zone { [unowned core] in core.handle(.zoneChanged($0)) }
        self.zone = zone
        core.handle(.zoneChanged(zone.zone))
      }
    } catch {
      ports.journal.cannotWatch(error)
    }
  }

  func observe(_ decision: Decision, on event: Event, at now: Instant) {
    delaySleep()
    if case .clockStepped = event { zone?.look() }
  }

  /// Delays the machine's sleep while anything runs.
  private func delaySleep() {
    let isDelayed = core.engine.isBusy
    guard isDelayed != delaysSleep else { return }
    delaysSleep = isDelayed
    conditions.delaySleep(isDelayed)
  }

  func observed(_ observation: Observation) { core.handle(.observed(observation)) }

  func sessionsChanged(_ users: Set<UInt32>) { logins.follow(users) }

  /// Tells the engine that the machine sleeps soon, after the time that logind waits, or that it is awake.
  func sleeps(_ isAsleep: Bool) {
    guard isAsleep else {
      sleepTimer?.disarm()
      // The lock was given back for this sleep; refreshes that still run need it for the next.
      delaysSleep = false
      return core.handle(.resumed)
    }
    let end = core.readClocks() + .microseconds(conditions.timeToSleep)
    core.handle(.suspending(until: end))
    // A process that does not end in time sleeps too; it gets its outcome after the resume.
    sleepTimer?.arm(at: (end + .milliseconds(200)).microseconds, accuracy: 1000)
  }
}

extension ConfigurationInForce {
  /// The facts that the apps' files name.
  fileprivate var namedFacts: Set<NamedFact> { Set(apps.flatMap(\.policy.constraints.namedFacts)) }

  /// The conditions that the apps need.
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
    case .dearer: if apps.contains(where: \.policy.backgroundInterval.isAuto) { needs.insert(.powerSaver) }
    case .stop: needs.insert(.powerSaver)
    }
    if apps.contains(where: { limits.followsSessions($0.policy) }) { needs.insert(.sessions) }
    return needs
  }
}
