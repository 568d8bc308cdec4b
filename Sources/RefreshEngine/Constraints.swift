/// What an app asks of the network (FEATURES D1).
public enum NetworkConstraint: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case none
  /// One that reaches the internet.
  case any
  /// One that reaches the internet and is not metered.
  case unmetered
  /// Wi-Fi that reaches the internet.
  case wifi
}

/// What an app asks of the power supply (FEATURES D2).
public enum PowerConstraint: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case any
  /// Mains.
  case ac
  /// Mains, or a battery that is not low.
  case notLow = "not-low"
}

/// The conditions that an app asks for before a refresh of it may start, and while it runs.
public struct Constraints: Hashable, Sendable {
  /// What the network must be.
  public var network = NetworkConstraint.none
  /// The Wi-Fi networks that will do; empty for all.
  ///
  /// What is not Wi-Fi is not in question.
  public var ssids: [String] = []
  /// The Wi-Fi networks that will not do.
  public var deniedSSIDs: [String] = []
  /// What the power supply must be.
  public var power = PowerConstraint.any
  /// Whether the user must be idle at the start.
  public var idle = false
  /// Whether the machine must be free of pressure at the start.
  public var calm = false

  /// Makes constraints that ask for nothing.
  public init() {}
}

/// The name of a constraint, as holds, ladders and answers have it.
public enum Constraint: String, Hashable, Sendable, CaseIterable {
  case network
  case power
  case idle
  case calm
}

/// Hours of every day in which nothing starts by time (FEATURES A7).
public struct QuietHours: Hashable, Sendable {
  /// When they begin, minutes of the local day, 0 to 1,439.
  public var from: Int
  /// When they end, minutes of the local day, 0 to 1,439; before `from` when midnight lies between.
  public var to: Int

  /// Makes quiet hours.
  public init(from: Int, to: Int) {
    self.from = from
    self.to = to
  }
}
