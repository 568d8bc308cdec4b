import RefreshEngine

/// The conditions of the simulated machine; at first, and in the end, all are met.
struct Weather: Sendable {
  private var conditions = Conditions()

  init() {
    conditions.network = Reading(Network(medium: .wifi, interface: "wlan0", ssid: "home"), source: "radio")
    conditions.power = Reading(Power(), source: "supply")
    conditions.powerSaver = Reading(false, source: "profiles")
    conditions.idle = Reading(true, source: "seat")
    conditions.pressure = Reading(false, source: "kernel")
  }

  /// The readings of its sources.
  var observations: [RefreshEngine.Observation] {
    [
      .network(conditions.network), .power(conditions.power), .powerSaver(conditions.powerSaver),
      .idle(conditions.idle), .pressure(conditions.pressure),
    ]
  }

  /// Changes one condition, for better or worse, and returns the observation.
  mutating func change(_ chance: inout Chance) -> RefreshEngine.Observation {
    let isKnown = chance.happens(90)
    switch chance.number(below: 10) {
    case 0..<5:
      let network = Network(
        reach: chance.pick([.full, .full, .full, .portal, .limited, .offline]),
        metered: chance.pick(Network.Metered.allCases), medium: chance.pick([.wifi, .wifi, .wired, .cellular, nil]),
        interface: "wlan0", ssid: chance.pick(["home", "cafe", nil]))
      conditions.network = reading(isKnown ? network : nil, "radio")
      return .network(conditions.network)
    case 5..<7:
      let power = Power(onBattery: chance.happens(50), percent: chance.pick([5, 50, nil]))
      conditions.power = reading(isKnown ? power : nil, "supply")
      return .power(conditions.power)
    case 7:
      conditions.powerSaver = reading(isKnown ? chance.happens(50) : nil, "profiles")
      return .powerSaver(conditions.powerSaver)
    case 8:
      conditions.idle = reading(isKnown ? chance.happens(50) : nil, "seat")
      return .idle(conditions.idle)
    default:
      conditions.pressure = reading(isKnown ? chance.happens(50) : nil, "kernel")
      return .pressure(conditions.pressure)
    }
  }

  /// Makes the user return or leave, and returns the observation.
  mutating func setIdle(_ isIdle: Bool) -> RefreshEngine.Observation {
    conditions.idle = Reading(isIdle, source: "seat")
    return .idle(conditions.idle)
  }

  /// The reading of a source: the fact, or a problem, or no source at all.
  private func reading<Value>(_ value: Value?, _ source: String) -> Reading<Value> {
    value == nil ? Reading(source: "", problem: "not there") : Reading(value, source: source)
  }

  /// Zones without daylight saving, and a zone that begins and ends it within a simulation.
  static let zones: [Zone] = [
    .utc, Zone(offset: -16_200),
    Zone(
      offset: 3600,
      changes: [
        Zone.Change(at: 3 * 86_400_000_000, offset: 7200), Zone.Change(at: 7 * 86_400_000_000, offset: 3600),
      ]),
  ]
}
