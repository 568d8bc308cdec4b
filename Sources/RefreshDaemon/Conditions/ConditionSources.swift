import RefreshEngine
import Systemd

/// A fact about the machine that the daemon can watch.
///
/// To add a fact, add a case here and its reading type to ``tracker``.
package enum ConditionNeed: String, Hashable, Sendable, CaseIterable {
  /// The network.
  case network
  /// The power supply.
  case power
  /// The power-saver profile.
  case powerSaver
  /// Whether the user is idle.
  case idle
  /// Whether the machine is under pressure.
  case pressure
  /// The users who are logged in.
  case sessions

  /// The facts that a constraint depends on, without facts that an app's file names.
  static func needs(of constraint: Constraint) -> ConditionNeeds {
    switch constraint {
    case .network: [.network]
    case .power: [.power]
    case .idle: [.idle]
    case .calm: [.pressure]
    case .mounted, .present: []
    // A command that said no is asked again when the network changes.
    case .reachable, .when: [.network]
    }
  }

  /// The type that reads the fact; nil for sessions, which are no condition of the engine.
  fileprivate var tracker: (any FactTracker.Type)? {
    switch self {
    case .network: NetworkTracker.self
    case .power: PowerTracker.self
    case .powerSaver: PowerProfileTracker.self
    case .idle: IdleTracker.self
    case .pressure: PressureTracker.self
    case .sessions: nil
    }
  }
}

/// The facts that the apps and the configuration ask for.
package typealias ConditionNeeds = Set<ConditionNeed>

/// Watches the facts about the machine that apps ask for.
///
/// Reports only changes. Every first reading comes within ``Bus/patience`` of the start. Without an answer in that time the
/// value is nil, or the next source's, and the reading names the reason. The daemon always watches for sleep and shutdown,
/// and other facts only on request.
package final class ConditionSources {
  /// The user and the paths that the trackers read from.
  package struct Settings: Sendable {
    /// The user of a user's daemon, whose idleness counts; nil for the machine's daemon.
    package var user: UInt32?
    /// The message bus of the machine.
    package var bus = BusAddress.system
    /// The kernel's directory of power supplies.
    package var powerSupplies = "/sys/class/power_supply"
    /// The kernel's directory of network devices.
    package var networkDevices = "/sys/class/net"
    /// The kernel's directory of pressure files.
    package var pressure = "/proc/pressure"
    /// The kernel's table of mounts, as this process sees them.
    package var mounts = "/proc/self/mountinfo"
    /// The kernel's directory of USB devices.
    package var usbDevices = "/sys/bus/usb/devices"

    /// Makes settings for the machine as it is.
    package init() {}
  }

  private let loop: EventLoop
  private let settings: Settings
  private unowned let observer: any MachineObserver
  private var bus: Bus?
  private var sleep: SleepSignals?
  private var lock: SleepLock?
  private var observed: [ConditionNeed: any ObservedFact] = [:]
  private var logins: LoginTracker?
  private var named: [NamedFactWatch] = []

  /// Makes the sources, which report to `observer`; ``start(needs:facts:)`` begins to watch.
  package init(on loop: EventLoop, settings: Settings = Settings(), for observer: any MachineObserver) {
    self.loop = loop
    self.settings = settings
    self.observer = observer
  }

  /// Starts watching the facts in `needs`, and stops watching all others; may be called again.
  ///
  /// A fact that is watched already stays as it is. A fact that is known at once is reported before this returns. A fact
  /// that is no longer watched is reported as unknown. Throws when the loop has no room for a timer.
  ///
  /// `facts` are the facts that apps' files name.
  package func start(needs: ConditionNeeds, facts: Set<NamedFact> = []) throws(SystemdError) {
    let bus = try connection()
    if sleep == nil {
      sleep = SleepSignals(on: bus) { [unowned observer] in observer.sleeps($0) }
      lock = try SleepLock(on: bus)
    }
    let context = TrackerContext(bus: bus, loop: loop, settings: settings)
    for need in ConditionNeed.allCases {
      if let tracker = need.tracker { try watch(need, by: tracker, needs.contains(need), in: context) }
    }
    if named.isEmpty {
      named = NamedFactWatch.kinds.map { kind in
        NamedFactWatch(kind, on: loop, settings) { [unowned observer] in observer.observed(.fact($0, $1)) }
      }
    }
    for watch in named { watch.watch(facts) }
    if !needs.contains(.sessions) {
      logins = nil
    } else if logins == nil {
      logins = try LoginTracker(on: bus) { [unowned observer] in observer.sessionsChanged($0) }
    }
  }

  private func watch<Tracker: FactTracker>(
    _ need: ConditionNeed, by type: Tracker.Type, _ isNeeded: Bool, in context: TrackerContext
  ) throws(SystemdError) {
    guard isNeeded else {
      if observed.removeValue(forKey: need) != nil { observer.observed(Tracker.observation(Reading())) }
      return
    }
    guard observed[need] == nil else { return }
    let new = try Observed<Tracker>(in: context) { [unowned observer] in observer.observed(Tracker.observation($0)) }
    observed[need] = new
    new.look()
  }

  private func connection() throws(SystemdError) -> Bus {
    if let bus { return bus }
    let new = try Bus(settings.bus, on: loop)
    bus = new
    return new
  }

  /// Takes logind's sleep lock, which delays sleep for a few seconds, or gives it back.
  package func delaySleep(_ isDelayed: Bool) { lock?.set(isDelayed) }

  /// The microseconds that tasks have to end after logind announces sleep.
  package var timeToSleep: Int64 { max(0, (lock?.delay ?? 0) - SleepLock.margin) }

  /// Asks logind whether a user lingers; `answer` is not called when logind does not know.
  package func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void) {
    logins?.askLingering(of: user, answer: answer)
  }

  /// The sources of every watched fact, in order of preference, down to the first that knows.
  package var sources: [SourceStatus] {
    var statuses = ConditionNeed.allCases.flatMap { need in
      (observed[need]?.statuses ?? []).map { SourceStatus(fact: need.rawValue, name: $0.name, text: $0.text) }
    }
    statuses += named.compactMap(\.status)
    if let logins {
      statuses.append(SourceStatus(fact: ConditionNeed.sessions.rawValue, name: Logind.name, text: logins.text))
    }
    return statuses
  }
}

/// A source of a fact and its state, in words for a person.
package struct SourceStatus: Hashable, Sendable {
  /// The fact, such as `network`.
  package var fact: String
  /// The source, such as `NetworkManager`.
  package var name: String
  /// The state: `answers`, `not there`, or the reason why the answer does not count.
  package var text: String
}
