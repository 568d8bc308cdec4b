import RefreshAPI
import RefreshEngine

extension Daemon {
  /// All counters and measurements, as OpenMetrics text.
  func metricsText(at now: Instant) -> String {
    var text = OpenMetricsText()
    let created = core.startedAt.instant.wallMicroseconds(at: core.engine.wallOffset)
    addDaemon(to: &text, created: created)
    core.tally.addRefreshes(to: &text, created: created)
    addState(to: &text, at: now)
    addTransfers(to: &text, created: created)
    core.tally.addPushes(to: &text, created: created)
    core.tally.addStore(to: &text, created: created)
    addApps(to: &text)
    return text.text
  }

  private func addDaemon(to text: inout OpenMetricsText, created: Int64) {
    text.begin("refreshd_build_info", .gauge, "The version of the daemon, as a label.")
    text.add("", [("version", refreshdVersion)], count: 1)
    text.begin("refreshd_starts", .counter, "How often the daemon has started on its store, since there is one.")
    text.add("_total", count: Int(core.engine.start))
    text.begin("refreshd_start_timestamp_seconds", .gauge, unit: "seconds", "When the daemon started.")
    text.add(microseconds: created)
    text.begin("refreshd_wakes", .counter, "How often its timer has woken the daemon, since its start.")
    text.add("_total", count: core.tally.wakes)
    text.add("_created", microseconds: created)
  }

  private func addState(to text: inout OpenMetricsText, at now: Instant) {
    text.begin("refreshd_running_refreshes", .gauge, "The refreshes that are running.")
    text.add(count: core.engine.refreshingCount)
    text.begin("refreshd_apps", .gauge, "The apps by phase.")
    let phases = Dictionary(grouping: core.configuration.apps.lazy.compactMap { self.core.engine.phase(of: $0.id) }) {
      $0
    }
    for phase in Phase.allCases { text.add("", [("phase", phase.rawValue)], count: phases[phase]?.count ?? 0) }
    text.begin("refreshd_held_apps", .gauge, "The apps that are held, by hold; one with two holds counts for both.")
    let held = core.engine.heldCounts(at: now)
    for hold in Hold.Name.allCases where hold != .notConfigured {
      text.add("", [("hold", hold.rawValue)], count: held[hold] ?? 0)
    }
  }

  private func addTransfers(to text: inout OpenMetricsText, created: Int64) {
    let counts = core.engine.transferCounts
    text.begin("refreshd_running_transfers", .gauge, "The transfers that a worker has.")
    text.add(count: counts.running)
    text.begin("refreshd_waiting_transfers", .gauge, "The transfers that wait or are paused.")
    text.add(count: counts.waiting)
    text.begin("refreshd_transfers", .counter, "The transfers that have ended, since the daemon's start.")
    for result in TransferResult.allCases {
      text.add("_total", [("result", result.rawValue)], count: core.tally.transfers[result] ?? 0)
      text.add("_created", [("result", result.rawValue)], microseconds: created)
    }
    text.begin(
      "refreshd_transferred_bytes", .counter, unit: "bytes",
      "The bytes of files that transfers have moved, since the daemon's start.")
    text.add("_total", count: Int(core.tally.moved))
    text.add("_created", microseconds: created)
  }

  // Without `_created`, the same time for each app: a fleet's text is long enough.
  private func addApps(to text: inout OpenMetricsText) {
    let name = "refreshd_app_fresh_timestamp_seconds"
    text.begin(name, .gauge, unit: "seconds", "When the last refresh of the app started that did not fail.")
    for app in core.configuration.apps {
      guard let fresh = core.engine.state(of: app.id)?.freshAt else { continue }
      text.add("", [("app", app.id.description)], microseconds: fresh.wallMicroseconds(at: core.engine.wallOffset))
    }
    text.begin(
      "refreshd_app_refreshes", .counter, "The refreshes of the app that have ended, since the daemon's start.")
    for app in core.configuration.apps {
      text.add("_total", [("app", app.id.description)], count: core.tally.refreshesOfApp[app.id] ?? 0)
    }
  }
}

extension Tally {
  fileprivate func addRefreshes(to text: inout OpenMetricsText, created: Int64) {
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

  fileprivate func addPushes(to text: inout OpenMetricsText, created: Int64) {
    text.begin(
      "refreshd_pushes", .counter, "The pushes by what became of them, since the daemon's start; one counts for each.")
    let counts =
      Wire.PushFate.allCases.map { ($0.hyphenated, accepted[$0]) } + PushEnd.allCases.map { ($0.rawValue, ends[$0]) }
    for (fate, count) in counts {
      text.add("_total", [("fate", fate)], count: count ?? 0)
      text.add("_created", [("fate", fate)], microseconds: created)
    }
  }

  fileprivate func addStore(to text: inout OpenMetricsText, created: Int64) {
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
