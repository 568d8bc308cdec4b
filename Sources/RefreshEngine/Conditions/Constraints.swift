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

  /// Whether anything about the network matters.
  var asksForNetwork: Bool { network != .none || !ssids.isEmpty || !deniedSSIDs.isEmpty }

  /// Whether the constraint is one of these.
  public func asks(for constraint: Constraint) -> Bool {
    switch constraint {
    case .network: asksForNetwork
    case .power: power != .any
    case .idle: idle
    case .calm: calm
    }
  }
}

/// The name of a constraint, as holds, ladders and answers have it.
///
/// All rules that differ between constraints are in this file.
public enum Constraint: String, Hashable, Sendable, CaseIterable {
  case network
  case power
  case idle
  case calm

  /// The position on the staleness ladder; the constraint with the lowest is relaxed first.
  var rung: Int64 {
    switch self {
    case .idle: 0
    case .calm: 1
    case .power: 2
    case .network: 3
    }
  }
}

extension Engine {
  /// Whether the conditions meet a constraint, its relaxing apart.
  func isMet(_ constraint: Constraint, of constraints: Constraints) -> Bool {
    switch constraint {
    case .network: isNetworkMet(constraints)
    case .power: isMet(constraints.power)
    case .idle: isMet(conditions.idle) { $0 }
    case .calm: isMet(conditions.pressure) { !$0 }
    }
  }
}

extension Conditions {
  /// Whether no source has answered yet for a constraint.
  func isAwaited(_ constraint: Constraint) -> Bool {
    switch constraint {
    case .network: network.isAwaited
    case .power: power.isAwaited
    case .idle: idle.isAwaited
    case .calm: pressure.isAwaited
    }
  }

  /// Whether no source knows the condition of a constraint.
  func isUnknown(_ constraint: Constraint) -> Bool {
    switch constraint {
    case .network: network.value == nil
    case .power: power.value == nil
    case .idle: idle.value == nil
    case .calm: pressure.value == nil
    }
  }
}
