import RefreshEngine

/// The events that a check sees, in the order in which they happen.
public enum Observation: Sendable {
  /// The daemon has read its store and knows no configuration yet.
  case daemonStarted
  /// The engine handled an event; the book has it, the store does not.
  case handled(Turn)
  /// A transaction with these changes is on disk.
  case saved(Changes)
  /// An effect is about to be performed.
  case performed(Effect)
  /// The daemon has ended, in any way.
  case daemonGone
  /// The machine falls asleep, as announced.
  case sleeps
  /// The machine woke from sleep.
  case resumed
  /// The simulation is over: no trouble occurred for long enough.
  case finished
}

/// An event and the engine's decision on it.
public struct Turn: Sendable {
  /// The event.
  public var event: Event
  /// The engine's decision.
  public var decision: Decision
  /// The engine before a step of the clock; nil for other events, since every copy costs.
  var engineBefore: Engine?
  /// The book before the event, for the apps that the event and the decision name.
  var before: [AppID: Bystander.App]
  /// When the daemon handled the event before, in this start.
  public var previously: Instant?
}

/// A promise, named and stated in one sentence, that holds at every moment of every simulation.
public protocol Invariant: Sendable {
  /// The promise.
  static var promise: String { get }
  /// Returns the broken promise in words; nil if there is none.
  mutating func observe(_ observation: Observation, in world: borrowing World) -> String?
}

/// A promise that was broken.
public struct Violation: Sendable, CustomStringConvertible {
  /// The check, by the name of its type.
  public var check: String
  /// The fault.
  public var problem: String
  /// When, since the simulation began.
  public var at: Duration

  /// A line for a person.
  public var description: String { "\(check): \(problem), at \(at.inMicroseconds) us" }
}
