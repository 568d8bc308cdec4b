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

extension Constraints {
  /// The requirement of the app, in the words of its file.
  func needs(_ constraint: Constraint) -> String {
    switch constraint {
    case .network:
      let only = ssids.isEmpty ? [] : ["only \(ssids.joined(separator: ", "))"]
      let denied = deniedSSIDs.isEmpty ? [] : ["not \(deniedSSIDs.joined(separator: ", "))"]
      return ([network.rawValue] + only + denied).joined(separator: "; ")
    case .power: return power.rawValue
    case .idle: return "an idle user"
    case .calm: return "no pressure"
    }
  }

  /// The requirement of the app for a person, to follow "waits for".
  func waitsFor(_ constraint: Constraint) -> String {
    let needs = needs(constraint)
    return switch (constraint, needs) {
    case (.network, "any"): "a network that reaches the internet"
    case (.network, "unmetered"): "an unmetered network"
    case (.network, "wifi"): "Wi-Fi that reaches the internet"
    case (.network, _): "a network (\(needs))"
    case (.power, "ac"): "mains power"
    case (.power, "not-low"): "mains power or a battery that is not low"
    case (.calm, _): "a machine without resource pressure"
    case (.power, _), (.idle, _): needs
    }
  }
}

extension Network {
  /// The network in a few words: `wlan0 (Home), not metered`, `offline`.
  var text: String {
    guard reach != .offline else { return "offline" }
    let name =
      ssid.map { interface.isEmpty ? $0 : "\(interface) (\($0))" } ?? (interface.isEmpty ? mediumText : interface)
    let limit: [String] =
      switch reach {
      case .offline, .full: []
      case .limited: ["without the internet"]
      case .portal: ["behind a captive portal"]
      }
    return ([name] + limit + [metered.text]).joined(separator: ", ")
  }

  private var mediumText: String {
    switch medium {
    case .wired: "a cable"
    case .wifi: "Wi-Fi"
    case .cellular: "a mobile network"
    case .other, nil: "online"
    }
  }
}

extension Network.Metered {
  fileprivate var text: String {
    switch self {
    case .unknown: "metered or not is unknown"
    case .yes: "metered"
    case .no: "not metered"
    case .guessYes: "probably metered"
    case .guessNo: "probably not metered"
    }
  }
}

extension Power {
  /// The power supply in a few words: `on battery, 64 %`, `on mains power`.
  var text: String {
    (onBattery ? "on battery" : "on mains power") + (percent.map { ", \($0) %" } ?? "")
  }
}
