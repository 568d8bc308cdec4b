import Glibc
import RefreshEngine
import Systemd

/// Watches the machine for the conditions that apps ask for: each fact from its own source, or the next best.
///
/// Tells only what has changed. All first readings are there within ``Bus/patience`` of the start, also where nobody
/// answers: then with a value of nil, or from the source that the documentation names next, and with the reason. Only
/// what somebody needs is watched, so that a daemon whose apps ask for nothing hears of sleep and of nothing else.
package final class ConditionSources {
  /// What the watchers need to be told.
  package struct Settings: Sendable {
    /// The user of a user's daemon, whose idleness counts; nil for the machine's daemon.
    package var user: UInt32?
    /// The message bus of the machine.
    package var bus = BusAddress.system
    /// Where the kernel shows power supplies.
    package var powerSupplies = "/sys/class/power_supply"
    /// Where the kernel shows network devices.
    package var networkDevices = "/sys/class/net"
    /// Where the kernel tells of pressure.
    package var pressure = "/proc/pressure"

    /// Makes settings for the machine as it is.
    package init() {}
  }

  /// Called with every condition that has changed, and with every first reading.
  package var onChange: (Observation) -> Void = { _ in }
  /// Called with true before the machine sleeps, and with false when it is awake again.
  package var onSleep: (Bool) -> Void = { _ in }
  /// Called with true before the machine is switched off, and with false if that was called off.
  package var onShutdown: (Bool) -> Void = { _ in }
  /// Called with the users who have sessions, whenever logind has said who they are; it may be the same as before.
  package var onSessions: (Set<UInt32>) -> Void = { _ in }

  private let loop: EventLoop
  private let settings: Settings
  private var bus: Bus?
  private var sleep: SleepSignals?
  private var lock: SleepLock?
  private var network: Observed<NetworkTracker>?
  private var power: Observed<PowerTracker>?
  private var powerProfile: Observed<PowerProfileTracker>?
  private var idle: Observed<IdleTracker>?
  private var pressure: Observed<PressureTracker>?
  private var logins: LoginTracker?

  /// Makes the watchers, which do nothing yet.
  package init(on loop: EventLoop, settings: Settings = Settings()) {
    self.loop = loop
    self.settings = settings
  }

  /// Begins to watch what is needed, and ends to watch what is not; may be called again.
  ///
  /// What is watched already goes on undisturbed. What is known at once is told before this returns, and of what is not
  /// watched any more, that nobody knows. Throws when the loop has no room for a timer.
  package func start(needs: ConditionNeeds) throws(SystemdError) {
    let bus = try connection()
    if sleep == nil {
      sleep = SleepSignals(on: bus)
      sleep?.onSleep = { [unowned self] in onSleep($0) }
      sleep?.onShutdown = { [unowned self] in onShutdown($0) }
      lock = SleepLock(on: bus)
    }
    network = try keep(network, needs.contains(.network), Observation.network) { () throws(SystemdError) in
      try NetworkTracker(on: bus, loop: loop, devices: settings.networkDevices)
    }
    power = try keep(power, needs.contains(.power), Observation.power) { () throws(SystemdError) in
      try PowerTracker(on: bus, loop: loop, directory: settings.powerSupplies)
    }
    powerProfile = try keep(powerProfile, needs.contains(.powerSaver), Observation.powerSaver) {
      () throws(SystemdError) in try PowerProfileTracker(on: bus)
    }
    idle = try keep(idle, needs.contains(.idle), Observation.idle) { () throws(SystemdError) in
      try IdleTracker(on: bus, user: settings.user)
    }
    pressure = try keep(pressure, needs.contains(.pressure), Observation.pressure) { () throws(SystemdError) in
      try PressureTracker(on: loop, directory: settings.pressure)
    }
    if !needs.contains(.sessions) {
      logins = nil
    } else if logins == nil {
      logins = try LoginTracker(on: bus)
      logins?.onSessions = { [unowned self] in onSessions($0) }
    }
  }

  /// Has the machine wait a moment before it sleeps, or no longer.
  package func holdSleep(_ isHeld: Bool) { lock?.set(isHeld) }

  /// When whoever runs must be gone, if the machine has just said that it sleeps: microseconds from then.
  package var timeToSleep: Int64 { max(0, (lock?.delay ?? 0) - SleepLock.margin) }

  private func connection() throws(SystemdError) -> Bus {
    if let bus { return bus }
    let new = try Bus(settings.bus, on: loop)
    bus = new
    return new
  }

  /// Ends to watch, and lets the bus go; nothing is told any more.
  package func stop() {
    (network, power, powerProfile, idle, pressure) = (nil, nil, nil, nil, nil)
    (logins, sleep, lock, bus) = (nil, nil, nil, nil)
  }

  /// Gives the tracker that is to be kept: the present one, a new one that has told what it knows at once, or none.
  private func keep<Tracker: FactTracker>(
    _ present: Observed<Tracker>?, _ isNeeded: Bool, _ observation: @escaping (Reading<Tracker.Fact>) -> Observation,
    make: () throws(SystemdError) -> Tracker
  ) throws(SystemdError) -> Observed<Tracker>? {
    guard isNeeded else {
      if present != nil { onChange(observation(Reading())) }
      return nil
    }
    if let present { return present }
    let observed = Observed(try make()) { [unowned self] in onChange(observation($0)) }
    observed.look()
    return observed
  }

  /// Asks whether a user lingers, without a session too; no answer comes when nobody can tell.
  package func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) {
    logins?.askLingering(of: user, answer: answer)
  }

  /// Who is asked for what, and how each is, for whoever asks for the daemon's status.
  package var sources: [ConditionSource] {
    var sources: [ConditionSource] = []
    func add<Fact>(_ fact: String, _ witnesses: [Witness<Fact>]?) {
      for witness in witnesses ?? [] {
        sources.append(ConditionSource(fact: fact, name: witness.name, text: witness.testimony.text))
        // Those after the one that knows are not asked.
        if witness.testimony.isKnown { return }
      }
    }
    add("network", network?.witnesses)
    add("power", power?.witnesses)
    add("power saver", powerProfile?.witnesses)
    add("idle", idle?.witnesses)
    add("pressure", pressure?.witnesses)
    if let logins { sources.append(ConditionSource(fact: "sessions", name: Logind.name, text: logins.text)) }
    return sources
  }
}

/// One source of a fact, for a person to read.
package struct ConditionSource: Hashable, Sendable {
  /// The fact, such as `network`.
  package var fact: String
  /// Who is asked, such as `NetworkManager`.
  package var name: String
  /// How it is: `answers`, `not there`, or why it does not count.
  package var text: String
}
