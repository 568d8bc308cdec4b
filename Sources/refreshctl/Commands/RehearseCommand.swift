import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshRehearsal

struct RehearseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rehearse", abstract: "Replay the past under another configuration, and compare the results.",
    discussion: """
      Runs the scheduler over the last days that the daemon has recorded; the four weeks before them train it. The \
      table compares the configuration in force with that of --config: the number of refreshes, and how often the user \
      found current data.

      With --trace it needs no daemon. Each app of the file is then refreshed as often as the system allows, unless \
      --config defines it, and --json prints the schedule of each app on one line.
      """)

  @Option(
    help: ArgumentHelp("Events of sources and users, one JSON object a line.", valueName: "file"), completion: .file())
  var trace: String?

  @Option(help: ArgumentHelp("The configuration to rehearse.", valueName: "dir"), completion: .directory)
  var config: String?

  @Option(help: "The budget instead of the configuration's: fresh, balanced or thrifty.")
  var profile: Profile?

  @Option(help: "How many days of the past to compare, 1 to 60.")
  var days = 7

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    guard (1...60).contains(days) else {
      throw ValidationError("cannot compare \(days) days; give --days from 1 to 60")
    }
    if trace == nil, config == nil, profile == nil {
      throw ValidationError("cannot rehearse without a change; give --config, --profile or --trace")
    }
  }

  func run() throws {
    if let trace { try rehearse(try Self.read(trace)) } else { try rehearsePast() }
  }

  private func rehearse(_ trace: Trace) throws {
    let schedule = Rehearsal.run(trace, try policies(from: config.map(ConfigurationSources.directory), as: Reader()))
    guard !connection.json else {
      for app in trace.apps {
        let line = ScheduleLine(app: app.id.description, refreshes: schedule.refreshes[app.id] ?? [])
        print(try line.jsonText(.line))
      }
      return
    }
    let screen = Screen(of: STDOUT_FILENO)
    for line in screen.text([("rehearsed", Freshness(schedule, on: trace))]) { print(screen.encoded(line)) }
  }

  /// Rehearses the recorded past under the configuration in force and under the other one.
  private func rehearsePast() throws {
    let screen = Screen(of: STDOUT_FILENO)
    let past = try RecordedTrace(
      try DaemonClient(connection), days: days, now: screen.now, calendar: screen.calendar)
    let inForce = try Self.load(past.sources, as: past.reader)
    let other = try policies(from: config.map(ConfigurationSources.directory) ?? past.sources, as: past.reader)
    let results = [("in force", inForce), ("rehearsed", other)].map { name, policies in
      (name, Freshness(Rehearsal.run(past.trace, policies), on: past.trace))
    }
    try connection.show(results.map { RehearsalLine(name: $0.0, freshness: $0.1) }) { screen in
      screen.text(results) + (results.first.map { screen.shortness($0.1, days: days) } ?? [])
    }
  }

  private struct ScheduleLine: JSONWritable {
    var app: String
    var refreshes: [Double]

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("app", app)
      json.member("refreshes", refreshes)
      json.endObject()
    }
  }

  private struct RehearsalLine: JSONWritable {
    let name: String
    let freshness: Freshness

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("age_min", freshness.age)
      json.member("days", freshness.minutes / 1440)
      json.member("fresh", freshness.fresh)
      json.member("name", name)
      json.member("refreshes_per_app_and_day", freshness.refreshesPerAppAndDay)
      json.member("wakes_per_day", freshness.wakesPerDay)
      json.member("waste", freshness.waste)
      json.endObject()
    }
  }

  private static func read(_ trace: String) throws(Failure) -> Trace {
    do throws(TraceError) {
      return try Trace(contentsOf: trace)
    } catch {
      let isThere = access(trace, F_OK) == 0
      throw Failure(status: isThere ? .badData : .notFound, text: "cannot rehearse \(trace): \(error)")
    }
  }

  private func policies(
    from sources: ConfigurationSources?, as reader: Reader
  ) throws(Failure) -> Rehearsal.Policies {
    var policies = try sources.map { (sources) throws(Failure) in try Self.load(sources, as: reader) } ?? .init()
    if let profile { policies.limits.profile = profile }
    return policies
  }

  private static func load(
    _ sources: ConfigurationSources, as reader: Reader
  ) throws(Failure) -> Rehearsal.Policies {
    do {
      let configuration = try Configuration.load(from: sources, as: reader)
      let apps = configuration.apps.map { ($0.id, $0.policy) }
      return Rehearsal.Policies(limits: configuration.limits, apps: Dictionary(apps) { first, _ in first })
    } catch {
      let problems = error.problems.map(\.description).joined(separator: "\n")
      throw Failure(
        status: .failed,
        text: "cannot rehearse the configuration in \(sources.directories.joined(separator: ", ")):\n\(problems)")
    }
  }
}

extension Profile: ExpressibleByArgument {}

extension Screen {
  /// The results and costs of schedules, a line each.
  fileprivate func text(_ results: [(name: String, freshness: Freshness)]) -> [String] {
    var table = Table(titles: ["", "REFRESHES", "FOUND NOTHING", "WAKES", "OPENED FRESH", "AGE MET"], prose: 0)
    table.rows = results.map { name, freshness in
      [
        Cell(name), Cell(Decimal.text(freshness.refreshesPerAppAndDay)), Cell(percent(freshness.waste)),
        Cell(Decimal.text(freshness.wakesPerDay)), Cell(freshness.openings > 0 ? percent(freshness.fresh) : "-"),
        Cell(freshness.openings > 0 ? "\(Decimal.text(freshness.age)) min" : "-"),
      ]
    }
    let legend =
      wrapped("REFRESHES counts background refreshes, per app and day. WAKES counts wakes of the machine, per day.")
      + wrapped("OPENED FRESH is the share of openings with current data. AGE MET is the mean age of missed data.")
    return table.lines(on: self) + [""] + legend.map { paint($0, .faint) }
  }

  /// Says how much of the past is compared, if that is less than requested.
  fileprivate func shortness(_ freshness: Freshness, days: Int) -> [String] {
    guard freshness.minutes < Double(days) * 1440 else { return [] }
    let span = Elapsed.rough(Int64(freshness.minutes * 60e6))
    return wrapped("Only \(span) could be compared: nothing older is recorded. A few days would say more.")
  }

  private func percent(_ share: Double) -> String { "\(Int((share * 100).rounded())) %" }
}

/// Builds a trace of the past that the daemon has recorded, for a rehearsal under another configuration.
private struct RecordedTrace {
  let trace: Trace
  /// The configuration that the daemon reads.
  let sources: ConfigurationSources
  /// The user that reads the configuration.
  let reader: Reader

  /// How many days before the measured ones the engine learns from.
  private static let warmUp = 28

  init(_ daemon: DaemonClient, days: Int, now: Int64, calendar: (Int64) -> CalendarTime) throws(Failure) {
    let status = try daemon.call(ManagerInterface.Status.self, .init()).status
    reader = Reader(uid: status.isUserDaemon ? geteuid() : 0, isUserDaemon: status.isUserDaemon)
    let directories = status.configuration.directories
    if directories.count == 1, let only = directories.first {
      sources = .directory(only)
    } else if status.isUserDaemon {
      sources = .user(home: environmentVariable("HOME") ?? "/")
    } else {
      sources = .system
    }
    var recorded: [(app: AppID, refreshes: [Wire.Refresh], openings: [Int64])] = []
    for app in try daemon.call(ManagerInterface.List.self, .init()).apps {
      guard let id = AppID(app.id) else { continue }
      let refreshes = try daemon.call(ManagerInterface.History.self, .init(app: app.id)).refreshes
      let openings = try daemon.call(ManagerInterface.Openings.self, .init(app: app.id)).openingsMicroseconds
      recorded.append((id, refreshes, openings))
    }
    // The trace begins on the first recorded day, and on a Monday, so that its weekends are the real ones.
    let moments = recorded.flatMap { $0.openings + $0.refreshes.map(\.startedMicroseconds) }
    let today = calendar(now).day
    let first = max(today - days - Self.warmUp, moments.min().map { calendar($0).day } ?? today)
    let monday = first - ((first + 3) % 7 + 7) % 7
    func minute(_ wall: Int64) -> Double {
      let moment = calendar(wall)
      return Double((moment.day - monday) * 1440 + moment.minuteOfDay) + Double(wall % 60_000_000) / 60e6
    }
    let past = recorded.map { app in
      let syncs = app.refreshes.filter { $0.outcome != .failed || $0.foundNew }.map { refresh in
        RecordedPast.Sync(at: minute(refresh.startedMicroseconds), foundNew: refresh.foundNew)
      }
      return RecordedPast(
        app: app.app, syncs: syncs.filter { $0.at >= 0 }, openings: app.openings.map(minute).filter { $0 >= 0 })
    }
    trace = Trace(recalling: past, days: today - monday + 1, measured: days, until: minute(now))
  }
}
