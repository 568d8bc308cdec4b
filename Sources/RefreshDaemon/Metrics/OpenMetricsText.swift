/// Text in the form of OpenMetrics 1.0, the sections "Text format" and "Metric types" of the specification.
///
/// It leaves out the type `info`, because parsers of the older Prometheus format, such as node_exporter's, refuse the whole
/// file for it. A gauge of 1 says the same to both.
struct OpenMetricsText {
  enum Kind: String {
    case counter, gauge, histogram, summary
  }

  typealias Label = (name: String, value: String)

  private var samples = ""
  private var name = ""

  /// The whole text, with the end mark.
  var text: String { samples + "# EOF\n" }

  /// Begins a family; a unit must be the last word of its name.
  mutating func begin(_ name: String, _ kind: Kind, unit: String? = nil, _ help: String) {
    self.name = name
    samples += "# TYPE \(name) \(kind.rawValue)\n"
    if let unit { samples += "# UNIT \(name) \(unit)\n" }
    samples += "# HELP \(name) \(help)\n"
  }

  /// Adds a sample that is a whole number; `suffix` belongs to the family's kind, such as `_total`.
  mutating func add(_ suffix: String = "", _ labels: [Label] = [], count: Int) {
    add(suffix, labels, value: String(count))
  }

  mutating func add(_ suffix: String = "", _ labels: [Label] = [], microseconds: Int64) {
    add(suffix, labels, value: Self.seconds(microseconds))
  }

  // Appends piece by piece, because a fleet has tens of thousands of samples and the loop waits for them.
  private mutating func add(_ suffix: String, _ labels: [Label], value: String) {
    samples += name
    samples += suffix
    for (index, label) in labels.enumerated() {
      samples += index == 0 ? "{" : ","
      samples += label.name
      samples += "=\""
      samples += Self.escaped(label.value)
      samples += "\""
    }
    samples += labels.isEmpty ? " " : "} "
    samples += value
    samples += "\n"
  }

  /// Microseconds as seconds, exactly.
  private static func seconds(_ microseconds: Int64) -> String {
    let (whole, part) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    let digits = String(part)
    let sign = microseconds < 0 ? "-" : ""
    return "\(sign)\(whole).\(String(repeating: "0", count: 6 - digits.count))\(digits)"
  }

  private static func escaped(_ value: String) -> String {
    let special = [UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "\n")]
    guard value.utf8.contains(where: special.contains) else { return value }
    return value.reduce(into: "") { text, character in
      switch character {
      case "\\": text += "\\\\"
      case "\"": text += "\\\""
      case "\n": text += "\\n"
      default: text.append(character)
      }
    }
  }
}
