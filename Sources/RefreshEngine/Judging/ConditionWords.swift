// Conditions and constraints in a few words, as a person reads them.

extension Judge {
  /// The present condition for a constraint of an app, such as `wlan0 (Home), metered`.
  private func text(of constraint: Constraint, _ constraints: Constraints, by app: App) -> String {
    let text: String? =
      switch constraint {
      case .network: conditions.network.value?.text
      case .power: conditions.power.value?.text
      case .idle: conditions.idle.value.map(Conditions.text(isIdle:))
      case .calm: conditions.pressure.value.map(Conditions.text(isUnderPressure:))
      case .mounted, .present: conditions.fact(constraint, of: constraints).value?.text
      case .reachable, .when: app.questions[constraint]?.answer?.text
      }
    return text ?? "unknown"
  }

  /// Why lost constraints stop a refresh: `needed mains power, had on battery, 64 %`.
  func text(lacking lost: [Constraint], by app: App) -> String {
    guard let constraints = app.policy?.constraints else { return "" }
    return lost.map { lost in
      "\(TaskRecord.lacking)\(constraints.waitsFor(lost)), had \(text(of: lost, constraints, by: app))"
    }.joined(separator: "; ")
  }
}

extension Conditions {
  /// The user's absence in words.
  public static func text(isIdle: Bool) -> String { isIdle ? "idle" : "in use" }

  /// The pressure on the machine in words.
  public static func text(isUnderPressure: Bool) -> String { isUnderPressure ? "under pressure" : "calm" }
}

extension Constraints {
  /// The requirement of the app, in the words of its file.
  public func needs(_ constraint: Constraint) -> String {
    switch constraint {
    case .network:
      let only = ssids.isEmpty ? [] : ["only \(ssids.joined(separator: ", "))"]
      let denied = deniedSSIDs.isEmpty ? [] : ["not \(deniedSSIDs.joined(separator: ", "))"]
      return ([network.rawValue] + only + denied).joined(separator: "; ")
    case .power: return power.rawValue
    case .idle: return "an idle user"
    case .calm: return "no pressure"
    case .mounted, .present, .reachable, .when: return name(of: constraint) ?? ""
    }
  }

  /// The requirement of the app for a person, to follow "waits for".
  public func waitsFor(_ constraint: Constraint) -> String {
    let needs = needs(constraint)
    return switch (constraint, needs) {
    case (.network, _): waitsForNetwork
    case (.power, "ac"): "mains power"
    case (.power, "not-low"): "mains power or a battery that is not low"
    case (.calm, _): "a machine without resource pressure"
    case (.power, _), (.idle, _): needs
    case (.mounted, _): "a file system on \(needs)"
    case (.present, _): "the device \(needs)"
    case (.reachable, _): "\(needs) to answer"
    case (.when, _): "`\(needs)` to succeed"
    }
  }

  private var waitsForNetwork: String {
    let kind =
      switch network {
      case .none: "a network"
      case .any: "a network that reaches the internet"
      case .unmetered: "an unmetered network"
      case .wifi: "Wi-Fi that reaches the internet"
      }
    let only = ssids.isEmpty ? "" : ", only \(ssids.joined(separator: " or "))"
    return kind + only + (deniedSSIDs.isEmpty ? "" : ", not \(deniedSSIDs.joined(separator: " or "))")
  }
}

extension Network {
  /// The network in a few words: `wlan0 (Home), not metered`, `offline`.
  public var text: String {
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
  public var text: String {
    (onBattery ? "on battery" : "on mains power") + (percent.map { ", \($0) %" } ?? "")
  }
}
