import RefreshAPI
import RefreshEngine

/// The daemon's counters since its start, for the metrics.
///
/// Values that the engine knows at any time, such as the number of held apps, are not counted here.
final class Tally {
  /// The labels of a counter of refreshes.
  struct Kind: Hashable {
    var outcome: Wire.Outcome
    var trigger: Trigger

    /// All kinds, so that every counter begins at 0.
    static let all = Wire.Outcome.allCases.flatMap { outcome in
      Trigger.allCases.map { Kind(outcome: outcome, trigger: $0) }
    }
  }

  /// The end of a push: refused when it came, dropped from the queue, or delivered.
  enum PushEnd: String, CaseIterable {
    case refused, dropped, delivered
  }

  /// The upper bounds of the histogram of durations, with their text in seconds: up to the longest deadline (10 min).
  static let bounds: [(microseconds: Int64, spelling: String)] = [
    (100_000, "0.1"), (300_000, "0.3"), (1_000_000, "1.0"), (3_000_000, "3.0"), (10_000_000, "10.0"),
    (30_000_000, "30.0"), (100_000_000, "100.0"), (300_000_000, "300.0"), (600_000_000, "600.0"),
  ]

  private(set) var refreshes: [Kind: Int] = [:]
  /// The ended refreshes of each app.
  private(set) var refreshesOfApp: [AppID: Int] = [:]
  /// How many refreshes ran.
  private(set) var ran = 0
  /// How many of them took no longer than each bound.
  private(set) var within = [Int](repeating: 0, count: bounds.count)
  /// The sum of their durations, microseconds.
  private(set) var duration: Int64 = 0
  /// The sum of their tasks' user and system times, microseconds.
  private(set) var cpu: Int64 = 0
  private(set) var transfers: [TransferResult: Int] = [:]
  /// The accepted pushes, by the answer to their senders.
  private(set) var accepted: [Wire.PushFate: Int] = [:]
  /// The pushes that have ended; most of them were accepted before.
  private(set) var ends: [PushEnd: Int] = [:]
  private(set) var moved: Int64 = 0
  /// How often the wake timer has gone off.
  private(set) var wakes = 0
  private(set) var writes = 0
  /// The duration of all writes, microseconds.
  private(set) var writing: Int64 = 0
  private(set) var failedWrites = 0

  func note(_ record: RefreshRecord) {
    let took = record.startedAt.duration(to: record.endedAt).inMicroseconds
    refreshes[Kind(outcome: Wire.Outcome(record.outcome), trigger: record.trigger), default: 0] += 1
    refreshesOfApp[record.app, default: 0] += 1
    // A sync by the app itself was not measured.
    guard record.trigger != .reported else { return }
    ran += 1
    duration += took
    cpu += record.tasks.reduce(0) { $0 + $1.cpu.inMicroseconds }
    for (index, bound) in Self.bounds.enumerated() where took <= bound.microseconds { within[index] += 1 }
  }

  /// Forgets the count of an app that was erased.
  func forget(_ app: AppID) { refreshesOfApp[app] = nil }

  /// Counts a wake of the daemon by its timer.
  func noteWake() { wakes += 1 }

  func note(_ fate: Wire.PushFate) { accepted[fate, default: 0] += 1 }

  func note(_ end: PushEnd) { ends[end, default: 0] += 1 }

  func note(_ result: TransferResult) { transfers[result, default: 0] += 1 }

  /// Counts the bytes that a worker moved.
  func note(moved bytes: Int64) {
    // A worker may claim any number of bytes, any number of times.
    let (sum, isTooMuch) = moved.addingReportingOverflow(max(0, bytes))
    moved = isTooMuch ? .max : sum
  }

  /// Counts a write of the store, from the request to the answer.
  func noteWrite(took duration: Duration, failed: Bool) {
    writes += 1
    writing += duration.inMicroseconds
    if failed { failedWrites += 1 }
  }
}

extension Tally {
  func addRefreshes(to text: inout OpenMetricsText, created: Int64) {
    text.begin("refreshd_refreshes", .counter, "The refreshes that have ended, since the daemon's start.")
    for kind in Kind.all {
      let labels = [("outcome", kind.outcome.hyphenated), ("trigger", kind.trigger.rawValue)]
      text.add("_total", labels, count: refreshes[kind] ?? 0)
      text.add("_created", labels, microseconds: created)
    }
    text.begin(
      "refreshd_refresh_duration_seconds", .histogram, unit: "seconds",
      "The time of refreshes from their start to the end of their last process, since the daemon's start.")
    for (bound, count) in zip(Self.bounds, within) { text.add("_bucket", [("le", bound.spelling)], count: count) }
    text.add("_bucket", [("le", "+Inf")], count: ran)
    text.add("_count", count: ran)
    text.add("_sum", microseconds: duration)
    text.add("_created", microseconds: created)
    text.begin(
      "refreshd_refresh_cpu_seconds", .counter, unit: "seconds",
      "User and system time of the tasks of refreshes that have ended, since the daemon's start.")
    text.add("_total", microseconds: cpu)
    text.add("_created", microseconds: created)
  }

  func addPushes(to text: inout OpenMetricsText, created: Int64) {
    text.begin(
      "refreshd_pushes", .counter, "The pushes by what became of them, since the daemon's start; one counts for each.")
    let counts =
      Wire.PushFate.allCases.map { ($0.hyphenated, accepted[$0]) } + PushEnd.allCases.map { ($0.rawValue, ends[$0]) }
    for (fate, count) in counts {
      text.add("_total", [("fate", fate)], count: count ?? 0)
      text.add("_created", [("fate", fate)], microseconds: created)
    }
  }

  func addStore(to text: inout OpenMetricsText, created: Int64) {
    text.begin(
      "refreshd_store_write_seconds", .summary, unit: "seconds",
      "The time of writes of the store, since the daemon's start.")
    text.add("_count", count: writes)
    text.add("_sum", microseconds: writing)
    text.add("_created", microseconds: created)
    text.begin("refreshd_store_failed_writes", .counter, "The writes that the disk refused, since the daemon's start.")
    text.add("_total", count: failedWrites)
    text.add("_created", microseconds: created)
  }
}

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
