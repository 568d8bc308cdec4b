import RefreshEngine
import Systemd

/// The conditions of the machine for the daemon; ``ConditionSources`` reads the real machine.
protocol MachineConditions: AnyObject {
  var onChange: (Observation) -> Void { get set }
  var onSleep: (Bool) -> Void { get set }
  var onSessions: (Set<UInt32>) -> Void { get set }
  /// How long logind delays sleep after announcing it, in microseconds.
  var timeToSleep: Int64 { get }

  func start(needs: ConditionNeeds, facts: Set<NamedFact>) throws(SystemdError)
  func delaySleep(_ isDelayed: Bool)
  func askLingering(of user: UInt32, answer: @escaping (Bool) -> Void)
}

extension ConditionSources: MachineConditions {}

/// The time zone of the machine; ``LocalZone`` reads the real zone.
protocol ZoneSource: AnyObject {
  var onZone: (Zone) -> Void { get set }
  var zone: Zone { get }

  /// Reads the zone again, after a step of the wall clock.
  func look()
}

extension LocalZone: ZoneSource {}
