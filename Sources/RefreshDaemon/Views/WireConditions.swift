import RefreshAPI
import RefreshEngine

// The conditions of the machine and the constraints on them, in a few words for people.

extension Wire.Conditions {
  init(_ conditions: Conditions, for viewer: Viewer) {
    self.init(
      network: viewer.seen(Wire.Condition(conditions.network)), power: viewer.seen(Wire.Condition(conditions.power)),
      powerSaver: viewer.seen(Wire.Condition(powerSaver: conditions.powerSaver)),
      idle: viewer.seen(Wire.Condition(idle: conditions.idle)),
      pressure: viewer.seen(Wire.Condition(pressure: conditions.pressure)))
  }

  /// The name and the value of an observed condition.
  static func field(of observation: Observation) -> (name: String, value: Wire.Condition) {
    switch observation {
    case .network(let reading): ("network", Wire.Condition(reading))
    case .power(let reading): ("power", Wire.Condition(reading))
    case .powerSaver(let reading): ("power_saver", Wire.Condition(powerSaver: reading))
    case .idle(let reading): ("idle", Wire.Condition(idle: reading))
    case .pressure(let reading): ("pressure", Wire.Condition(pressure: reading))
    case .fact(let fact, let reading): (fact.constraint.rawValue, Wire.Condition(reading))
    }
  }
}

extension Wire.Condition {
  /// The condition for a constraint of an app.
  init(_ term: Explanation.Term, of constraints: Constraints, in conditions: Conditions) {
    let machine = Wire.Conditions(conditions, for: .person)
    switch term.constraint {
    case .network: self = machine.network
    case .power: self = machine.power
    case .idle: self = machine.idle
    case .calm: self = machine.pressure
    case .mounted, .present: self.init(conditions.facts[of: term.constraint, in: constraints] ?? Reading())
    case .reachable, .when: self.init(value: term.question?.answer?.text, source: "", problem: nil)
    }
  }

  /// A fact that an app's file names, or the answer of a command.
  init(_ reading: Reading<FactState>) { self.init(reading) { $0.text } }

  fileprivate init(_ reading: Reading<Network>) { self.init(reading) { $0.text } }
  fileprivate init(_ reading: Reading<Power>) { self.init(reading) { $0.text } }
  fileprivate init(powerSaver reading: Reading<Bool>) { self.init(reading) { $0 ? "on" : "off" } }
  fileprivate init(idle reading: Reading<Bool>) { self.init(reading, Conditions.text(isIdle:)) }
  fileprivate init(pressure reading: Reading<Bool>) { self.init(reading, Conditions.text(isUnderPressure:)) }

  private init<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) {
    self.init(value: reading.value.map(text), source: reading.source, problem: reading.problem)
  }
}

extension Constraint {
  /// The remedy for an unmet constraint, for people.
  func remedy(of app: String) -> String {
    switch self {
    case .network: "a network that it asks for; refreshctl why \(app) says which"
    case .power: "the power supply that it asks for; refreshctl why \(app) says which"
    case .idle: "an idle user"
    case .calm: "less pressure on the machine"
    case .mounted: "the file system that it asks for; refreshctl why \(app) says which"
    case .present: "the device that it asks for; refreshctl why \(app) says which"
    case .reachable: "the server that it asks for; refreshctl why \(app) says which"
    case .when: "the command that it asks; refreshctl why \(app) says which"
    }
  }
}

extension [NamedFact: Reading<FactState>] {
  /// The fact that an app's file names for a constraint.
  fileprivate subscript(of constraint: Constraint, in constraints: Constraints) -> Reading<FactState>? {
    constraints.name(of: constraint).flatMap { self[NamedFact(constraint, $0)] }
  }
}
