import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI

struct TimelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timeline", abstract: "Draw the past and the planned refreshes on a time line.",
    discussion: """
      The hours before now come from the history, the hours after it from a forecast; quiet hours are those of now. \
      --svg writes a picture for a browser into a file; each of its marks has a tooltip.
      """)

  /// The most rows that a reader can take in.
  static let mostApps = 50

  @Argument(help: "The id of the app, or a part of it; all apps if absent.", completion: .apps)
  var app: String?

  @Option(help: ArgumentHelp("How far to look back and ahead, 1 to 168.", valueName: "number"))
  var hours = 24

  @Option(help: ArgumentHelp("Write an SVG picture to this file.", valueName: "file"), completion: .file())
  var svg: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    try checkHours(hours)
    if svg != nil, connection.json {
      throw ValidationError("cannot write a picture as JSON; leave out --svg or --json")
    }
  }

  func run() throws {
    let known = try connection.naming(app.map { [$0] } ?? []) { ids throws(Failure) in try answers(about: ids.first) }
    guard let svg else { return try connection.show(known) { $0.text(Timeline(known, on: $0)) } }
    let screen = Screen(of: STDOUT_FILENO)
    try Self.write(TimelinePicture(Timeline(known, on: screen), screen).text, into: svg)
    if isatty(STDOUT_FILENO) == 1 { print("The picture is in \(svg).") }
  }

  private func answers(about app: String?) throws(Failure) -> TimelineAnswers {
    let daemon = try DaemonClient(connection)
    let now = Screen(of: STDOUT_FILENO).now
    let all =
      app == nil ? try daemon.call(ManagerInterface.List.self, .init()).apps.map(\.id) : [app].compactMap(\.self)
    let since = now - Int64(hours) * 3_600_000_000
    var apps: [TimelineAnswers.AppAnswers] = []
    for app in all.prefix(Self.mostApps) {
      apps.append(
        TimelineAnswers.AppAnswers(
          app: app,
          timeline: try daemon.call(ManagerInterface.Timeline.self, .init(app: app, sinceMicroseconds: since)),
          why: try daemon.call(ManagerInterface.Why.self, .init(app: app)).why,
          openings: try openings(of: app, since: since, from: daemon)))
    }
    return TimelineAnswers(
      sinceMicroseconds: since, apps: apps, leftOut: all.count - apps.count,
      forecast: try daemon.call(ManagerInterface.Forecast.self, .init(hours: hours, app: app)))
  }

  /// The openings of an app that began or ended after a time.
  private func openings(
    of app: String, since: Int64, from daemon: DaemonClient
  ) throws(Failure) -> [Wire.OpeningSpan] {
    let reply = try daemon.call(ManagerInterface.Openings.self, .init(app: app))
    let spans =
      reply.spans
      ?? reply.openingsMicroseconds.map { Wire.OpeningSpan(sinceMicroseconds: $0, isObserved: false) }
    return spans.filter { max($0.sinceMicroseconds, $0.untilMicroseconds ?? 0) >= since }
  }

  private static func write(_ text: String, into path: String) throws(Failure) {
    guard let file = fopen(path, "we") else { throw refusal(path) }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw refusal(path) }
  }

  private static func refusal(_ path: String) -> Failure {
    Failure(
      status: .failed,
      text: "cannot write the picture to \(path): \(errorText(errno)); name another file with --svg")
  }
}

/// The daemon's replies about the hours before and after now.
struct TimelineAnswers: JSONWritable {
  /// The replies about one app.
  struct AppAnswers: JSONWritable {
    let app: String
    let timeline: ManagerInterface.Timeline.Reply
    /// The present state of the app, with its name, its quiet hours and its pushes.
    var why: Wire.Explanation?
    /// The times at which the user had the app in the foreground, the newest first.
    var openings: [Wire.OpeningSpan] = []

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("app", app)
      json.member("openings", openings)
      json.member("openings_us", openings.map(\.sinceMicroseconds))
      json.member("timeline", timeline)
      if let why { json.member("why", why) }
      json.endObject()
    }
  }

  /// The beginning, in microseconds of the wall clock.
  let sinceMicroseconds: Int64
  let apps: [AppAnswers]
  /// The number of apps beyond ``TimelineCommand/mostApps``.
  let leftOut: Int
  let forecast: ManagerInterface.Forecast.Reply

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("apps", apps)
    json.member("forecast", forecast)
    json.member("left_out", leftOut)
    json.member("since_us", sinceMicroseconds)
    json.endObject()
  }
}
