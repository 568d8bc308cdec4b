import FoundationEssentials
@preconcurrency import Glibc
import RefreshDaemon
import RefreshEngine

/// Prints a value as a line of JSON and flushes it.
func line(_ value: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = .sortedKeys
  print(String(decoding: try encoder.encode(value), as: UTF8.self))
  fflush(nil)
}

/// A reading of a condition, as the daemon receives it.
struct ReadingLine<Value: Encodable>: Encodable {
  let event: String
  let value: Value?
  let source: String
  let problem: String?

  init<Fact>(_ event: String, _ reading: Reading<Fact>, value: (Fact) -> Value) {
    self.event = event
    self.value = reading.value.map(value)
    source = reading.source
    problem = reading.problem
  }
}

/// The network.
struct NetworkValue: Encodable {
  let reach: String
  let metered: String
  let medium: String?
  let interface: String
  let ssid: String?

  init(_ network: Network) {
    reach = "\(network.reach)"
    metered = network.metered.rawValue
    medium = network.medium?.rawValue
    interface = network.interface
    ssid = network.ssid
  }
}

/// The power supply.
struct PowerValue: Encodable {
  let onBattery: Bool
  let percent: Int?

  init(_ power: Power) {
    onBattery = power.onBattery
    percent = power.percent
  }
}

/// A signal that is on or off, such as sleep.
struct SwitchLine: Encodable {
  let event: String
  let value: Bool
}

/// A user who is logged in or out.
struct SessionLine: Encodable {
  var event = "session"
  let user: UInt32
  let active: Bool
}

/// A source and its state.
struct SourceLine: Encodable {
  var event = "source"
  let fact: String
  let name: String
  let text: String

  init(_ source: SourceStatus) {
    fact = source.fact
    name = source.name
    text = source.text
  }
}

/// The time zone; the offsets in seconds east of Greenwich, the changes in microseconds of Unix time.
struct ZoneLine: Encodable {
  var event = "zone"
  let offset: Int32
  let changes: [[Int64]]

  init(_ zone: Zone) {
    offset = zone.offset
    changes = zone.changes.map { [$0.at, Int64($0.offset)] }
  }
}

extension Observation {
  /// Prints the reading.
  func print() throws {
    switch self {
    case .network(let reading): try line(ReadingLine("network", reading, value: NetworkValue.init))
    case .power(let reading): try line(ReadingLine("power", reading, value: PowerValue.init))
    case .powerSaver(let reading): try line(ReadingLine("powerSaver", reading) { $0 })
    case .idle(let reading): try line(ReadingLine("idle", reading) { $0 })
    case .pressure(let reading): try line(ReadingLine("pressure", reading) { $0 })
    case .fact(let fact, let reading): try line(ReadingLine("\(fact.constraint) \(fact.name)", reading) { $0.isMet })
    }
  }
}
