import RefreshEngine

/// Durations as systemd writes them (`systemd.time(7)`): `30s`, `5min`, `1h 30min`, `1.5h`, `90`.
extension Duration {
  /// The longest duration that is read: ten years of 365.25 days.
  public static let longest = Duration.seconds(315_576_000)

  /// Reads a sum of terms, each a number and a unit; a number without a unit is in seconds.
  ///
  /// Units are those of `systemd.time(7)`, from `us` to `y`, with a month of 30.4375 and a year of 365.25 days, as
  /// systemd counts them. Terms may stand with or without spaces between them, in any order. A negative duration, one
  /// of more than ``longest`` and one with a fraction of a microsecond are refused.
  public init(systemd text: String) throws(Unreadable) {
    var rest = Substring(text)
    var microseconds: Int64 = 0
    var terms = 0
    while !rest.skipSpaces().isEmpty {
      let (term, overflows) = microseconds.addingReportingOverflow(try rest.takeTerm(of: text))
      guard !overflows, term <= Duration.longest.inMicroseconds else {
        throw .duration(text, "it is longer than 10 years")
      }
      microseconds = term
      terms += 1
    }
    guard terms > 0 else { throw .duration(text, "it is empty") }
    self = .microseconds(microseconds)
  }

  /// The duration as systemd writes it, such as `1h 30min`: the largest units first, and `0` for none.
  ///
  /// Exact to the microsecond, so that reading it again gives the same duration. A negative one, which nobody can
  /// configure, gets a minus sign before the first term.
  public var inSystemdForm: String {
    var rest = inMicroseconds.magnitude
    guard rest > 0 else { return "0" }
    var terms: [String] = []
    for unit in Unit.largestFirst where rest >= unit.microseconds {
      terms.append("\(rest / unit.microseconds)\(unit.names[0])")
      rest %= unit.microseconds
    }
    return (inMicroseconds < 0 ? "-" : "") + terms.joined(separator: " ")
  }
}

extension Unreadable {
  static func duration(_ text: String, _ reason: String) -> Unreadable {
    Unreadable(
      message: "cannot read \(quoted(text)) as a duration: \(reason)",
      remedy: #"write for example "15min" or "1h 30min""#)
  }
}

/// A unit of time with its names, the one that is written first.
private struct Unit {
  let microseconds: UInt64
  let names: [String]

  // The names and lengths of systemd's parse_time() and format_timespan().
  static let largestFirst: [Unit] = [
    Unit(microseconds: 31_557_600_000_000, names: ["y", "year", "years"]),
    Unit(microseconds: 2_629_800_000_000, names: ["month", "months", "M"]),
    Unit(microseconds: 604_800_000_000, names: ["w", "week", "weeks"]),
    Unit(microseconds: 86_400_000_000, names: ["d", "day", "days"]),
    Unit(microseconds: 3_600_000_000, names: ["h", "hr", "hour", "hours"]),
    Unit(microseconds: 60_000_000, names: ["min", "m", "minute", "minutes"]),
    Unit(microseconds: 1_000_000, names: ["s", "sec", "second", "seconds"]),
    Unit(microseconds: 1000, names: ["ms", "msec"]),
    Unit(microseconds: 1, names: ["us", "usec", "µs", "μs"]),
  ]
  static let byName = Dictionary(
    uniqueKeysWithValues: largestFirst.flatMap { unit in unit.names.map { ($0, unit.microseconds) } })
}

extension Substring {
  fileprivate mutating func skipSpaces() -> Substring {
    self = drop { $0 == " " || $0 == "\t" || $0 == "\n" }
    return self
  }

  private mutating func take(while belongs: (Character) -> Bool) -> Substring {
    let taken = prefix(while: belongs)
    self = self[taken.endIndex...]
    return taken
  }

  /// Takes a number, with or without decimals, and the unit behind it, in microseconds.
  fileprivate mutating func takeTerm(of text: String) throws(Unreadable) -> Int64 {
    guard first != "-" else { throw .duration(text, "it is negative") }
    let whole = take { $0.isASCIIDigit }
    var decimals = Substring()
    if first == "." {
      removeFirst()
      decimals = take { $0.isASCIIDigit }
      guard !decimals.isEmpty else { throw .duration(text, "there is no digit behind the point") }
      guard first != "." else { throw .duration(text, "a number has two points") }
    }
    guard !(whole.isEmpty && decimals.isEmpty) else {
      throw .duration(text, "there is no number before \(quoted(prefix { $0 != " " }))")
    }
    _ = skipSpaces()
    let name = take { !$0.isASCIIDigit && $0 != " " && $0 != "." && $0 != "-" }
    guard let unit = name.isEmpty ? 1_000_000 : Unit.byName[String(name)] else {
      throw .duration(text, "\(quoted(name)) is no unit of time")
    }
    guard whole.count <= 18, let count = Int64("0" + whole), decimals.count <= 12 else {
      throw .duration(text, "a number has too many digits")
    }
    // One unit is at most 3.2e13 µs, so a fraction of twelve digits needs more than 64 bits on the way.
    var (microseconds, scale) = (UInt64(0), UInt64(1))
    if let fraction = UInt64(decimals) {
      for _ in decimals { scale *= 10 }
      let product = fraction.multipliedFullWidth(by: unit)
      let part = scale.dividingFullWidth(product)
      guard part.remainder == 0 else { throw .duration(text, "it has a fraction of a microsecond") }
      microseconds = part.quotient
    }
    let (product, overflows) = count.multipliedReportingOverflow(by: Int64(unit))
    let (sum, overflowsAgain) = product.addingReportingOverflow(Int64(microseconds))
    guard !overflows, !overflowsAgain else { throw .duration(text, "it is longer than 10 years") }
    return sum
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
