import RefreshEngine

/// What a check gets to see, in the order in which it happens.
public enum Observation: Sendable {
  /// The daemon has read its store and knows no configuration yet.
  case daemonStarted
  /// The engine took an event; the book has it, the store has not.
  case handled(Turn)
  /// A transaction is on disk.
  case saved(Store.Batch)
  /// An effect is about to be performed.
  case performed(Effect)
  /// The daemon is gone, in whatever way.
  case daemonGone
  /// The machine falls asleep, as it had said it would.
  case sleeps
  /// The machine woke from sleep.
  case resumed
  /// The simulation is over: everything went well for long enough.
  case finished
}

/// One event and what the engine made of it.
public struct Turn: Sendable {
  /// What happened.
  public var event: Event
  /// What the engine decided on it.
  public var decision: Decision
  /// The engine before a step of the clock; nil for other events, since every copy costs.
  var engineBefore: Engine?
  /// What the book said before of the apps that the event and the decision name.
  var before: [AppID: Bystander.App]
  /// When the daemon handled the event before, in this start.
  public var previously: Instant?
}

/// One promise, named and said in one sentence, that holds at every moment of every simulation.
public protocol Invariant: Sendable {
  /// The promise.
  static var promise: String { get }
  /// Says what is wrong, if something is.
  mutating func observe(_ observation: Observation, in world: borrowing World) -> String?
}

/// A promise that was broken.
public struct Violation: Sendable, CustomStringConvertible {
  /// The check, by the name of its type.
  public var check: String
  /// What is wrong.
  public var problem: String
  /// When, since the simulation began.
  public var at: Duration

  /// One line for a person.
  public var description: String { "\(check): \(problem), at \(at.inMicroseconds) us" }
}
