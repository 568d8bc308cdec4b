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
  func fact(_ constraint: Constraint, of constraints: Constraints) -> Reading<FactState> {
    constraints.name(of: constraint).flatMap { facts[NamedFact(constraint, $0)] } ?? Reading()
  }
}
