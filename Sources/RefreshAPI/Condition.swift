extension Wire {
  /// A fact about the machine.
  public struct Condition: Codable, Hashable, Sendable {
    /// The fact, for a person; absent when nobody knows.
    public let value: String?
    /// Who says so, such as `UPower`; empty when there is nobody to ask.
    public let source: String
    /// Why a better source was not asked or did not answer; absent when all is well.
    public let problem: String?

    /// Makes it of its parts.
    public init(value: String? = nil, source: String, problem: String? = nil) {
      self.value = value
      self.source = source
      self.problem = problem
    }
  }

  /// What is known of the machine.
  public struct Conditions: Codable, Hashable, Sendable {
    /// The network of the default route.
    public let network: Condition
    /// The power supply.
    public let power: Condition
    /// Whether a power-saver profile is on.
    public let powerSaver: Condition
    /// Whether nobody has touched the machine for a while.
    public let idle: Condition
    /// Whether processes wait for CPU, memory or disk.
    public let pressure: Condition

    /// Makes it of its parts.
    public init(network: Condition, power: Condition, powerSaver: Condition, idle: Condition, pressure: Condition) {
      self.network = network
      self.power = power
      self.powerSaver = powerSaver
      self.idle = idle
      self.pressure = pressure
    }

    private enum CodingKeys: String, CodingKey {
      case network
      case power
      case powerSaver = "power_saver"
      case idle
      case pressure
    }
  }

  /// One constraint of an app against the condition of the machine as it is.
  public struct Term: Codable, Hashable, Sendable {
    /// Which one: `network`, `power`, `idle` or `calm`.
    ///
    /// Others may be added.
    public let constraint: String
    /// What the app asks for, such as `unmetered` or `not-low`.
    public let needs: String
    /// What the machine has, such as `wlan0, metered`; absent when nobody knows.
    public let has: String?
    /// Who says so, such as `NetworkManager`; empty when there is nobody to ask.
    public let source: String
    /// Whether the condition meets it now; one that nobody knows is met or not as the configuration says.
    public let isMet: Bool
    /// Whether nobody knows the condition.
    public let isUnknown: Bool
    /// From when it no longer counts because the data is too old, microseconds of the wall clock; absent when it always
    /// counts.
    public let relaxedMicroseconds: Int64?
    /// Whether it no longer counts.
    public let isRelaxed: Bool

    /// Makes it of its parts.
    public init(
      constraint: String, needs: String, has: String? = nil, source: String, isMet: Bool, isUnknown: Bool,
      relaxedMicroseconds: Int64? = nil, isRelaxed: Bool
    ) {
      self.constraint = constraint
      self.needs = needs
      self.has = has
      self.source = source
      self.isMet = isMet
      self.isUnknown = isUnknown
      self.relaxedMicroseconds = relaxedMicroseconds
      self.isRelaxed = isRelaxed
    }

    private enum CodingKeys: String, CodingKey {
      case constraint
      case needs
      case has
      case source
      case isMet = "is_met"
      case isUnknown = "is_unknown"
      case relaxedMicroseconds = "relaxed_us"
      case isRelaxed = "is_relaxed"
    }
  }
}
