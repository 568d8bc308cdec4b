import RefreshEngine
import Systemd

/// Receives what ``MachineConditions`` observe.
package protocol MachineObserver: AnyObject {
  /// Receives the first reading of each condition, and every change.
  func observed(_ observation: Observation)
  /// Receives true before the machine sleeps, and false when it is awake again.
  func sleeps(_ isAsleep: Bool)
  /// Receives the users who have sessions after each answer of logind, also if they are the same as before.
  func sessionsChanged(_ users: Set<UInt32>)
}

/// The conditions of the machine for the daemon; ``ConditionSources`` reads the real machine.
protocol MachineConditions: AnyObject {
  /// How long logind delays sleep after announcing it, in microseconds.
  var timeToSleep: Int64 { get }

  func start(needs: ConditionNeeds, facts: Set<NamedFact>) throws(SystemdError)
  func delaySleep(_ isDelayed: Bool)
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void)
}

extension ConditionSources: MachineConditions {}

/// The time zone of the machine; ``LocalZone`` reads the real zone.
protocol ZoneSource: AnyObject {
  var zone: Zone { get }

  /// Reads the zone again, after a step of the wall clock.
  func look()
}

extension LocalZone: ZoneSource {}
