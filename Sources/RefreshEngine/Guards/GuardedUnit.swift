/// A long-lived service that runs only while nothing holds its app.
public struct GuardedUnit: Hashable, Sendable, CustomStringConvertible {
  /// How the service is kept from running: the values of `guard`.
  public enum Means: String, Hashable, Sendable, CaseIterable {
    /// It is stopped, and started again later.
    case stop
    /// Its processes are frozen, and thawed later: they keep their memory and their connections.
    case freeze
  }

  /// The name of the service, such as `syncthing.service`.
  public var name: String
  /// How it is kept from running.
  public var means: Means
  /// The user whose service manager has the unit; nil for the machine's.
  public var user: UInt32?

  /// Names a service.
  public init(_ name: String, means: Means = .stop, user: UInt32? = nil) {
    (self.name, self.means, self.user) = (name, means, user)
  }

  /// The unit among all of the machine and its users: `syncthing.service of user 1000`.
  public var description: String { user.map { "\(name) of user \($0)" } ?? name }

  /// The unit as text for ``AppState/keptUnit``: `frozen syncthing.service`, or just the name for a stopped unit.
  public var kept: String { means == .freeze ? "frozen \(description)" : description }

  /// Reads a text of ``AppState/keptUnit``.
  init(kept text: String) {
    var words = text.split(separator: " ")
    let isFrozen = words.count > 1 && words[0] == "frozen"
    if isFrozen { words.removeFirst() }
    self.init(
      words.first.map(String.init) ?? text, means: isFrozen ? .freeze : .stop,
      user: words.count == 4 ? UInt32(words[3]) : nil)
  }

  /// The unit that a text of ``AppState/keptUnit`` names, with its means; nil if it is another unit.
  func taken(as text: String) -> GuardedUnit? {
    let left = GuardedUnit(kept: text)
    return left.name == name && left.user == user ? left : nil
  }
}

/// The end of the keeper: the process that keeps a unit from running, and returns it when told to.
public enum KeeperEnd: Hashable, Sendable {
  /// It has returned the unit; `trouble` is the problem in one sentence, nil for none.
  case returned(trouble: String?)
  /// It could not work, or was killed; the reason in one sentence.
  case failed(String)
}

/// A guard at one instant, for a person.
public struct GuardState: Hashable, Sendable {
  /// The unit.
  public var unit: GuardedUnit
  /// Whether the daemon has stopped or frozen the unit and is to return it.
  public var isKept: Bool
  /// The state of the unit as its keeper reported it last, such as `stopped`; nil while nothing keeps it.
  public var report: String?
  /// Why the unit cannot be kept or returned, in one sentence; nil when all is well.
  public var trouble: String?
}
