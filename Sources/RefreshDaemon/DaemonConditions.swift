import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

// The machine's conditions on their way to the engine.

extension Daemon {
  /// Has what the sources tell handed to the engine, and begins to watch.
  ///
  /// Before the configuration is in force, so that the engine knows what is known at once when it judges for the first
  /// time.
  func beginToWatch() {
    conditions.onChange = { self.handle(.observed($0)) }
    conditions.onSessions = { self.follow($0) }
    conditions.onSleep = { self.sleep($0) }
    watch()
  }

  /// Has what runs end before the machine sleeps, as long as logind waits for it, or go on when it is awake (FEATURES B9).
  private func sleep(_ isAsleep: Bool) {
    guard isAsleep else {
      sleepTimer?.disarm()
      // The lock was given back for this sleep; what still runs needs it for the next.
      holdsSleep = false
      return handle(.resumed)
    }
    let end = readClocks() + .microseconds(conditions.timeToSleep)
    handle(.suspending(until: end))
    // What does not die in time sleeps too; it has its outcome when the machine is awake.
    sleepTimer?.arm(at: (end + .milliseconds(200)).microseconds, accuracy: 1000)
  }

  /// Has the machine wait before it sleeps while anything runs.
  func holdSleep() {
    let isHeld = engine.refreshingCount > 0 || engine.transferCounts.running > 0
    guard isHeld != holdsSleep else { return }
    holdsSleep = isHeld
    conditions.holdSleep(isHeld)
  }

  /// Watches what the configuration in force and a pause ask for, and nothing else: what is not watched wakes nobody.
  ///
  /// A source that cannot be watched leaves its condition unknown.
  func watch() {
    do throws(SystemdError) {
      try conditions.start(needs: needs)
      if zone == nil, configuration.apps.contains(where: { $0.policy.quiet != nil || $0.policy.isAdaptive }) {
        let zone = try LocalZone(on: loop)
        zone.onZone = { self.handle(.zoneChanged($0)) }
        self.zone = zone
        handle(.zoneChanged(zone.zone))
      }
    } catch {
      journal.cannotWatch(error)
    }
  }

  private var needs: ConditionNeeds {
    var needs: ConditionNeeds = []
    for app in configuration.apps {
      let constraints = app.policy.constraints
      if constraints.network != .none || !constraints.ssids.isEmpty || !constraints.deniedSSIDs.isEmpty {
        needs.insert(.network)
      }
      if constraints.power != .any { needs.insert(.power) }
      if constraints.idle { needs.insert(.idle) }
      if constraints.calm { needs.insert(.pressure) }
    }
    switch configuration.limits.powerSaver {
    case .ignore: break
    case .dearer: if configuration.apps.contains(where: \.policy.isAdaptive) { needs.insert(.powerSaver) }
    case .stop: needs.insert(.powerSaver)
    }
    if engine.device.pause == .untilAC { needs.insert(.power) }
    if transfers.hasOpen { needs.insert(.network) }
    if pushes.isInUse { needs.formUnion([.network, .power]) }
    if needsSessions { needs.insert(.sessions) }
    return needs
  }
}

extension ConditionSources.Settings {
  /// A user's daemon looks at its user's idleness, the machine's at everybody's.
  init(of settings: RefreshDaemon.Settings) {
    self.init()
    if settings.isUserDaemon { user = getuid() }
  }
}
