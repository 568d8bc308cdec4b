import RefreshAPI
import RefreshEngine

// The facts about the machine, each in a few words as a person reads them.

extension Wire.Conditions {
  init(_ conditions: Conditions) {
    self.init(
      network: Wire.Condition(conditions.network) { $0.text }, power: Wire.Condition(conditions.power) { $0.text },
      powerSaver: Wire.Condition(conditions.powerSaver) { $0 ? "on" : "off" },
      idle: Wire.Condition(conditions.idle) { $0 ? "idle" : "in use" },
      pressure: Wire.Condition(conditions.pressure) { $0 ? "under pressure" : "calm" })
  }
}

extension Wire.Condition {
  init<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) {
    self.init(value: reading.value.map(text), source: reading.source, problem: reading.problem)
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
