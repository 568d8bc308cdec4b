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

/// The conditions that an app asks for before a refresh starts, and while it runs.
public struct Constraints: Hashable, Sendable {
  /// The network that the app asks for.
  public var network = NetworkConstraint.none
  /// The allowed Wi-Fi networks; empty for all.
  ///
  /// Media other than Wi-Fi are always allowed.
  public var ssids: [String] = []
  /// The Wi-Fi networks that are not allowed.
  public var deniedSSIDs: [String] = []
  /// The power supply that the app asks for.
  public var power = PowerConstraint.any
  /// Whether the user must be idle at the start.
  public var idle = false
  /// Whether the machine must be free of pressure at the start.
  public var calm = false
  /// The folder on which a file system must be mounted; nil for none.
  public var mounted: String?
  /// The device that must be there, as `usb:VENDOR:PRODUCT`; nil for none.
  public var present: String?
  /// The server that must take a connection at the start, as `HOST:PORT`; nil for none.
  public var reachable: String?
  /// The command that must succeed at the start, in words for a person; nil for none.
  ///
  /// The command itself stays with the daemon.
  public var when: String?
  /// A digest that changes with the command, because ``when`` is cut and lacks the environment; 0 for none.
  public var whenDigest: UInt64 = 0

  /// Makes constraints that ask for nothing.
  public init() {}

  /// Whether anything about the network matters.
  var asksForNetwork: Bool { network != .none || !ssids.isEmpty || !deniedSSIDs.isEmpty }

  /// Whether the file asks for a constraint.
  public func asks(for constraint: Constraint) -> Bool {
    switch constraint {
    case .network: asksForNetwork
    case .power: power != .any
    case .idle: idle
    case .calm: calm
    case .mounted, .present, .reachable, .when: name(of: constraint) != nil
    }
  }

  /// The name of an app's own condition in its file; nil if the file names none, and for the machine's conditions.
  public func name(of constraint: Constraint) -> String? {
    switch constraint {
    case .network, .power, .idle, .calm: nil
    case .mounted: mounted
    case .present: present
    case .reachable: reachable
    case .when: when
    }
  }

  /// The facts about the machine that the app's file names, for the daemon to watch.
  public var namedFacts: [NamedFact] {
    Constraint.facts.compactMap { constraint in
      name(of: constraint).map { NamedFact(constraint, $0) }
    }
  }
}

/// The name of a constraint, as holds, ladders and answers have it.
///
/// This file, `Holds`, `ConditionWords` and the daemon's `ConditionSources` have the rules for each constraint.
public enum Constraint: String, Hashable, Sendable, CaseIterable {
  case network
  case power
  case idle
  case calm
  case mounted
  case present
  case reachable
  case when

  /// The ways in which the engine learns whether a constraint is met.
  public enum Origin: Hashable, Sendable {
    /// The condition is the machine's, the same for all apps.
    case machine
    /// The daemon watches the fact that the app's file names.
    case watched
    /// A command answers, when the app is due.
    case asked
  }

  /// How the engine learns whether the constraint is met.
  public var origin: Origin {
    switch self {
    case .network, .power, .idle, .calm: .machine
    case .mounted, .present: .watched
    case .reachable, .when: .asked
    }
  }

  /// The facts that an app's file names, which hold its transfers too: their files may be on that disk.
  static let facts = allCases.filter { $0.origin == .watched }

  /// The position on the staleness ladder: the lowest is relaxed first; nil if it is never relaxed.
  ///
  /// An app's own condition is never relaxed: the author of the file knows that the refresh needs it.
  var rung: Int64? {
    switch self {
    case .idle: 0
    case .calm: 1
    case .power: 2
    case .network: 3
    case .mounted, .present, .reachable, .when: nil
    }
  }

  /// Whether a refresh stops when it loses the constraint.
  ///
  /// Idleness and pressure count at the start only, because the refresh itself may change both. But long work stops when
  /// the user returns. No command is asked during a refresh.
  func isRequiredThroughout(byLongWork isProcessing: Bool) -> Bool {
    switch self {
    case .network, .power, .mounted, .present: true
    case .idle: isProcessing
    case .calm, .reachable, .when: false
    }
  }
}

extension Judge {
  /// Whether a constraint of an app is met without relaxation.
  func isMetUnrelaxed(_ constraint: Constraint, of constraints: Constraints, by app: App, at now: Instant) -> Bool {
    switch constraint {
    case .network: isNetworkMet(constraints)
    case .power: isMet(constraints.power)
    case .idle: isMet(conditions.idle) { $0 }
    case .calm: isMet(conditions.pressure) { !$0 }
    // An unknown fact is not met, whatever `unknown_conditions` says: the disk that a file names may not exist.
    case .mounted, .present: conditions.fact(constraint, of: constraints).value?.isMet ?? false
    case .reachable, .when:
      app.questions[constraint]?.isMet(
        at: now, for: app.policy?.guarded == nil ? ConditionQuestion.validity : Judge.answerLife) ?? false
    }
  }

  /// Whether no source has answered yet for a constraint.
  func isUnanswered(_ constraint: Constraint, of constraints: Constraints, by app: App) -> Bool {
    switch constraint {
    case .network: conditions.network.isUnanswered
    case .power: conditions.power.isUnanswered
    case .idle: conditions.idle.isUnanswered
    case .calm: conditions.pressure.isUnanswered
    case .mounted, .present: conditions.fact(constraint, of: constraints).isUnanswered
    case .reachable, .when: app.questions[constraint]?.isUnanswered ?? true
    }
  }

  /// Whether no source knows the condition of a constraint.
  func isUnknown(_ constraint: Constraint, of constraints: Constraints, by app: App) -> Bool {
    switch constraint {
    case .network: conditions.network.value == nil
    case .power: conditions.power.value == nil
    case .idle: conditions.idle.value == nil
    case .calm: conditions.pressure.value == nil
    case .mounted, .present: conditions.fact(constraint, of: constraints).value == nil
    case .reachable, .when: app.questions[constraint]?.answer == nil
    }
  }
}
