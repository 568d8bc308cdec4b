import RefreshEngine

/// Durations as text in systemd's form (`systemd.time(7)`): `30s`, `5min`, `1h 30min`, `1.5h`, `90`.
extension Duration {
  /// The longest duration: ten years of 365.25 days.
  public static let longest = Duration.seconds(315_576_000)

  /// Reads a sum of terms, each a number and a unit; a number without a unit is in seconds.
  ///
  /// The units are those of `systemd.time(7)`, from `us` to `y`. A month has 30.4375 days and a year 365.25, as in systemd.
  /// Terms have any order, with or without spaces between them. Negative durations, durations longer than ``longest`` and
  /// fractions of a microsecond are refused.
  public init(systemd text: String) throws(Unreadable) {
    var rest = Substring(text)
    var microseconds: Int64 = 0
    var terms = 0
    while !rest.skipSpaces().isEmpty {
      let (term, overflows) = microseconds.addingReportingOverflow(try rest.popTerm(of: text))
      guard !overflows, term <= Duration.longest.inMicroseconds else {
        throw .duration(text, "it is longer than 10 years")
      }
      microseconds = term
      terms += 1
    }
    guard terms > 0 else { throw .duration(text, "it is empty") }
    self = .microseconds(microseconds)
  }

  /// The duration in systemd's form, such as `1h 30min`: the largest units first, and `0` for zero.
  ///
  /// Years, months and weeks are used only if they divide the duration evenly: otherwise `31d` would be `1month 13h 30min`.
  ///
  /// The text is exact to the microsecond, so that reading it gives the same duration. A negative duration, which no file
  /// can have, gets a minus sign before the first term.
  public var inSystemdForm: String {
    var rest = inMicroseconds.magnitude
    guard rest > 0 else { return "0" }
    var terms: [String] = []
    for unit in TimeUnit.largestFirst where rest >= unit.microseconds {
      if unit.microseconds > TimeUnit.day, rest % unit.microseconds != 0 { continue }
      terms.append("\(rest / unit.microseconds)\(unit.names[0])")
      rest %= unit.microseconds
    }
    return (inMicroseconds < 0 ? "-" : "") + terms.joined(separator: " ")
  }
}

extension Unreadable {
  fileprivate static func duration(_ text: String, _ reason: String) -> Unreadable {
    Unreadable(
      "cannot read \(quoted(text)) as a duration: \(reason)",
      remedy: #"write for example "15min" or "1h 30min""#)
  }
}

/// A unit of time with its names; ``Swift/Duration/inSystemdForm`` uses the first.
private struct TimeUnit {
  let microseconds: UInt64
  let names: [String]
  static let day: UInt64 = 86_400_000_000

  // The names and lengths are as in systemd's parse_time() and format_timespan().
  static let largestFirst: [TimeUnit] = [
    TimeUnit(microseconds: 31_557_600_000_000, names: ["y", "year", "years"]),
    TimeUnit(microseconds: 2_629_800_000_000, names: ["month", "months", "M"]),
    TimeUnit(microseconds: 604_800_000_000, names: ["w", "week", "weeks"]),
    TimeUnit(microseconds: day, names: ["d", "day", "days"]),
    TimeUnit(microseconds: 3_600_000_000, names: ["h", "hr", "hour", "hours"]),
    TimeUnit(microseconds: 60_000_000, names: ["min", "m", "minute", "minutes"]),
    TimeUnit(microseconds: 1_000_000, names: ["s", "sec", "second", "seconds"]),
    TimeUnit(microseconds: 1000, names: ["ms", "msec"]),
    TimeUnit(microseconds: 1, names: ["us", "usec", "µs", "μs"]),
  ]
  static let byName = Dictionary(
    uniqueKeysWithValues: largestFirst.flatMap { unit in unit.names.map { ($0, unit.microseconds) } })
}

extension Substring {
  fileprivate mutating func skipSpaces() -> Substring {
    self = drop { $0 == " " || $0 == "\t" || $0 == "\n" }
    return self
  }

  private mutating func popPrefix(while belongs: (Character) -> Bool) -> Substring {
    let start = prefix(while: belongs)
    self = self[start.endIndex...]
    return start
  }

  /// Removes a number and its unit from the start, and returns them in microseconds.
  fileprivate mutating func popTerm(of text: String) throws(Unreadable) -> Int64 {
    guard first != "-" else { throw .duration(text, "it is negative") }
    let whole = popPrefix { $0.isASCIIDigit }
    var decimals = Substring()
    if first == "." {
      removeFirst()
      decimals = popPrefix { $0.isASCIIDigit }
      guard !decimals.isEmpty else { throw .duration(text, "a digit is missing after the point") }
      guard first != "." else { throw .duration(text, "a number has two points") }
    }
    guard !(whole.isEmpty && decimals.isEmpty) else {
      throw .duration(text, "a number is missing before \(quoted(prefix { $0 != " " }))")
    }
    _ = skipSpaces()
    let name = popPrefix { !$0.isASCIIDigit && $0 != " " && $0 != "." && $0 != "-" }
    guard let unit = name.isEmpty ? 1_000_000 : TimeUnit.byName[String(name)] else {
      throw .duration(text, "\(quoted(name)) is not a unit of time")
    }
    guard whole.count <= 18, let count = Int64("0" + whole), decimals.count <= 12 else {
      throw .duration(text, "a number has too many digits")
    }
    // The largest unit has 3.2e13 µs, so its product with twelve digits needs more than 64 bits.
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

/// Foreground intervals as text, in files and on the command line: a duration, `never` or `minimum`.
extension Interval {
  /// Reads a duration (see ``Swift/Duration/init(systemd:)``), `never` or `minimum`.
  public init(_ text: String) throws(Unreadable) {
    if let interval = Interval(word: text) {
      self = interval
      return
    }
    do {
      self = .every(try Duration(systemd: text))
    } catch {
      throw Unreadable(error.message, remedy: error.remedy + #", or "minimum", or "never""#)
    }
  }

  /// Reads an interval that must not be shorter than `floor`, the floor of its phase in ``RefreshEngine/Limits``.
  public init(_ text: String, floor: Duration) throws(Unreadable) {
    try self.init(text)
    if case .every(let duration) = self, duration < floor {
      throw Unreadable(
        "cannot refresh every \(duration.inSystemdForm): the floor is \(floor.inSystemdForm)",
        remedy: #"write "minimum" for as often as the system allows"#)
    }
  }

  /// The interval in the form that ``init(_:)`` reads.
  public var text: String { text(\.inSystemdForm) }
}

/// Background intervals as text, in files and on the command line: a duration, `never` or `auto`.
extension BackgroundInterval {
  /// Reads a duration (see ``Swift/Duration/init(systemd:)``), `never` or `auto`; no duration may be shorter than `floor`.
  public init(_ text: String, floor: Duration) throws(Unreadable) {
    switch text {
    case "never": self = .never
    case "auto": self = .auto()
    case "minimum":
      throw Unreadable(
        #"cannot refresh "minimum" in the background"#, remedy: #"write "auto" for as often as it pays"#)
    default:
      do {
        self = .every(try Duration(systemd: text))
      } catch {
        throw Unreadable(error.message, remedy: error.remedy + #", or "auto", or "never""#)
      }
      guard case .every(let duration) = self, duration < floor else { return }
      throw Unreadable(
        "cannot refresh every \(duration.inSystemdForm): the floor is \(floor.inSystemdForm)",
        remedy: "write a longer interval, or lower background_floor in refreshd.toml")
    }
  }

  /// The interval in the form that ``init(_:floor:)`` reads, without the floor of `auto`.
  public var text: String {
    switch self {
    case .never: "never"
    case .every(let duration): duration.inSystemdForm
    case .auto: "auto"
    }
  }
}

/// Quiet hours as text: two times of the day with a hyphen between them.
extension QuietHours {
  /// Reads quiet hours such as `22:00-06:00`, local time, 00:00 to 23:59.
  ///
  /// The hours may span midnight.
  public init(_ text: String) throws(Unreadable) {
    let times = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minuteOfDay)
    guard times.count == 2, let from = times[0], let to = times[1] else {
      throw Self.unreadable("cannot read \(quoted(text)) as quiet hours")
    }
    guard from != to else {
      throw Self.unreadable("cannot use \(quoted(text)) as quiet hours: they begin and end at the same time")
    }
    self.init(from: from, to: to)
  }

  /// Reads `HH:MM`; nil for anything else.
  static func minuteOfDay(_ text: Substring) -> Int? {
    let digits = text.utf8.map { Int($0) - Int(UInt8(ascii: "0")) }
    guard digits.count == 5, Array(text.utf8)[2] == UInt8(ascii: ":"),
      [0, 1, 3, 4].allSatisfy({ (0...9).contains(digits[$0]) })
    else { return nil }
    let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
    return hour < 24 && minute < 60 ? hour * 60 + minute : nil
  }

  private static func unreadable(_ message: String) -> Unreadable {
    Unreadable(
      message, remedy: #"write two times from 00:00 to 23:59, as in "22:00-06:00", or "never""#)
  }
}
