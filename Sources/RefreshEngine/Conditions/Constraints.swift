/// The network that an app asks for.
public enum NetworkConstraint: String, Hashable, Sendable, CaseIterable {
  /// Nothing.
  case none
  /// A network that reaches the internet.
  case any
  /// A network that reaches the internet and is not metered.
  case unmetered
  /// Wi-Fi that reaches the internet.
  case wifi
}

/// The power supply that an app asks for.
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
  /// The network that the app asks for.
  public var network = NetworkConstraint.none
  /// The Wi-Fi networks that are allowed; empty for all.
  ///
  /// Other media than Wi-Fi are always allowed.
  public var ssids: [String] = []
  /// The Wi-Fi networks that are not allowed.
  public var deniedSSIDs: [String] = []
  /// The power supply that the app asks for.
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
