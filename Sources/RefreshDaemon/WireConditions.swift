import RefreshAPI
import RefreshEngine

// The facts about the machine and the constraints on them, each in a few words as a person reads them.

extension Wire.Conditions {
  init(_ conditions: Conditions) {
    self.init(
      network: Wire.Condition(conditions.network), power: Wire.Condition(conditions.power),
      powerSaver: Wire.Condition(powerSaver: conditions.powerSaver), idle: Wire.Condition(idle: conditions.idle),
      pressure: Wire.Condition(pressure: conditions.pressure))
  }

  /// The condition that a constraint depends on.
  subscript(constraint: Constraint) -> Wire.Condition {
    switch constraint {
    case .network: network
    case .power: power
    case .idle: idle
    case .calm: pressure
    }
  }

  /// The name and the value of the field that an observation changes.
  static func field(of observation: Observation) -> (name: String, value: Wire.Condition) {
    switch observation {
    case .network(let reading): ("network", Wire.Condition(reading))
    case .power(let reading): ("power", Wire.Condition(reading))
    case .powerSaver(let reading): ("power_saver", Wire.Condition(powerSaver: reading))
    case .idle(let reading): ("idle", Wire.Condition(idle: reading))
    case .pressure(let reading): ("pressure", Wire.Condition(pressure: reading))
    }
  }
}

extension Wire.Condition {
  fileprivate init(_ reading: Reading<Network>) { self.init(reading) { $0.text } }
  fileprivate init(_ reading: Reading<Power>) { self.init(reading) { $0.text } }
  fileprivate init(powerSaver reading: Reading<Bool>) { self.init(reading) { $0 ? "on" : "off" } }
  fileprivate init(idle reading: Reading<Bool>) { self.init(reading) { $0 ? "idle" : "in use" } }
  fileprivate init(pressure reading: Reading<Bool>) { self.init(reading) { $0 ? "under pressure" : "calm" } }

  private init<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) {
    self.init(value: reading.value.map(text), source: reading.source, problem: reading.problem)
  }
}

extension Constraint {
  /// The change that lifts the hold of an unmet constraint, for a person.
  func remedy(of app: String) -> String {
    switch self {
    case .network: "a network that it asks for; refreshctl why \(app) says which"
    case .power: "the power supply that it asks for; refreshctl why \(app) says which"
    case .idle: "an idle user"
    case .calm: "less pressure on the machine"
    }
  }
}
