/// A fact about the machine, and the source that reports it.
public struct Reading<Value: Hashable & Sendable>: Hashable, Sendable {
  /// The fact; nil while it is unknown.
  public var value: Value?
  /// The source that was asked, such as `NetworkManager`, `rtnetlink` or `UPower`; empty when there is none.
  public var source: String
  /// Why a better source was not asked or did not answer, in one sentence; nil when all is well.
  public var problem: String?

  /// Makes a reading; unknown by default.
  public init(_ value: Value? = nil, source: String = "", problem: String? = nil) {
    self.value = value
    self.source = source
    self.problem = problem
  }

  /// Whether no source has answered yet; a source that does not know the fact reports a problem.
  public var isUnanswered: Bool { value == nil && source.isEmpty && problem == nil }
}

/// The network as it is now.
public struct Network: Hashable, Sendable {
  /// How far the network reaches: the states of NetworkManager's connectivity check, worst first.
  public enum Reach: Int, Hashable, Sendable, Comparable, CaseIterable {
    /// No link.
    case offline
    /// A link, but nothing beyond it.
    case limited
    /// A captive portal stands before the internet.
    case portal
    /// The internet.
    case full

    /// Order of reach.
    public static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
  }

  /// Whether traffic is dear: the answers of NetworkManager's `Metered`.
  public enum Metered: String, Hashable, Sendable, CaseIterable {
    /// Unknown; counts as no.
    case unknown
    /// The user or the network says so.
    case yes
    /// The user or the network says that it is not.
    case no
    /// Guessed, for instance from a phone's DHCP option; taken for yes.
    case guessYes = "guess-yes"
    /// Guessed; taken for no.
    case guessNo = "guess-no"

    /// Whether a constraint `unmetered` is not met.
    public var isMetered: Bool { self == .yes || self == .guessYes }
  }

  /// The carrier of the default route.
  public enum Medium: String, Hashable, Sendable, CaseIterable {
    /// A cable.
    case wired
    /// Wi-Fi.
    case wifi
    /// A mobile network.
    case cellular
    /// Anything else, such as a tunnel.
    case other
  }

  /// How far it reaches.
  public var reach: Reach
  /// Whether traffic is dear.
  public var metered: Metered
  /// The carrier of the default route; nil when unknown or when there is none.
  public var medium: Medium?
  /// The interface of the default route, such as `wlan0`; empty when unknown or when there is none.
  public var interface: String
  /// The name of the Wi-Fi network; nil for another medium, or when unknown.
  public var ssid: String?

  /// Makes a network; full reach over an unknown medium by default.
  public init(
    reach: Reach = .full, metered: Metered = .unknown, medium: Medium? = nil, interface: String = "",
    ssid: String? = nil
  ) {
    self.reach = reach
    self.metered = metered
    self.medium = medium
    self.interface = interface
    self.ssid = ssid
  }
}

/// The power supply as it is now.
public struct Power: Hashable, Sendable {
  /// Whether the machine runs on its battery.
  public var onBattery: Bool
  /// How full the battery is, 0 to 100; nil when there is none, or it does not say.
  public var percent: Int?

  /// Makes a power supply; mains by default.
  public init(onBattery: Bool = false, percent: Int? = nil) {
    self.onBattery = onBattery
    self.percent = percent
  }
}

/// Everything about the machine that a constraint may ask for.
public struct Conditions: Hashable, Sendable {
  /// The network.
  public var network = Reading<Network>()
  /// The power supply.
  public var power = Reading<Power>()
  /// Whether a power-saver profile is on (power-profiles-daemon).
  public var powerSaver = Reading<Bool>()
  /// Whether the user has not touched the machine for a while (logind's IdleHint).
  public var idle = Reading<Bool>()
  /// Whether processes wait for CPU, memory or disk (PSI, `Documentation/accounting/psi.rst`).
  public var pressure = Reading<Bool>()
  /// The facts that apps' files name and the daemon watches.
  public var facts: [NamedFact: Reading<FactState>] = [:]

  /// Makes unknown conditions.
  public init() {}

  /// Applies a condition that has changed.
  mutating func apply(_ observation: Observation) {
    switch observation {
    case .network(let reading): network = reading
    case .power(let reading): power = reading
    case .powerSaver(let reading): powerSaver = reading
    case .idle(let reading): idle = reading
    case .pressure(let reading): pressure = reading
    case .fact(let fact, let reading): facts[fact] = reading.isUnanswered ? nil : reading
    }
  }
}

/// A condition that has changed.
public enum Observation: Hashable, Sendable {
  /// The network has changed.
  case network(Reading<Network>)
  /// The power supply has changed.
  case power(Reading<Power>)
  /// The power-saver profile was switched on or off.
  case powerSaver(Reading<Bool>)
  /// The user has become idle, or active again.
  case idle(Reading<Bool>)
  /// Pressure on the machine has begun or ended.
  case pressure(Reading<Bool>)
  /// A fact that apps' files name has changed; a reading without an answer says that nobody watches it any more.
  case fact(NamedFact, Reading<FactState>)

  /// The observations of a source that knows none of the machine's conditions.
  public static func unknown(source: String) -> [Observation] {
    [
      .network(Reading(nil, source: source)), .power(Reading(nil, source: source)), .idle(Reading(nil, source: source)),
      .pressure(Reading(nil, source: source)),
    ]
  }
}

/// A fact that an app's file names, such as a file system that is mounted on a folder.
public struct NamedFact: Hashable, Sendable, Comparable {
  /// The constraint that asks for it.
  public let constraint: Constraint
  /// Its name in the file: a path, or a device.
  public let name: String

  /// Names a fact.
  public init(_ constraint: Constraint, _ name: String) { (self.constraint, self.name) = (constraint, name) }

  /// Order of constraint and name.
  public static func < (left: NamedFact, right: NamedFact) -> Bool {
    (left.constraint.rawValue, left.name) < (right.constraint.rawValue, right.name)
  }
}

/// The state of a fact that an app's file names, or the answer of a command.
public struct FactState: Hashable, Sendable {
  /// Whether the fact is as the file asks.
  public var isMet: Bool
  /// The fact in a few words that may follow "had": `no file system there`.
  public var text: String

  /// Makes a state.
  public init(isMet: Bool, text: String) { (self.isMet, self.text) = (isMet, text) }
}

extension Conditions {
  /// The reading of the fact that an app's file names for a constraint.
  public func fact(_ constraint: Constraint, of constraints: Constraints) -> Reading<FactState> {
    constraints.name(of: constraint).flatMap { facts[NamedFact(constraint, $0)] } ?? Reading()
  }
}

/// The user's pause of all apps, with its end.
public enum Pause: Hashable, Sendable {
  /// Until `resume`.
  case untilResumed
  /// Until an instant, boot clock, or `resume`.
  case until(Instant)
  /// Until the machine is on mains power, or `resume`.
  case untilAC

  /// Whether its time has passed at an instant, boot clock.
  func isOver(at now: Instant) -> Bool { if case .until(let end) = self { end <= now } else { false } }
}
