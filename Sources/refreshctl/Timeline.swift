import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI

struct TimelineCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timeline", abstract: "Draw what was refreshed and what will be, hour by hour.",
    discussion: """
      The hours before now are the history's, the hours after it a forecast's. With --svg the picture goes into a \
      file, for a browser; each of its marks says what it is.
      """)

  /// How many apps fit a picture that somebody still reads.
  static let mostApps = 50

  @Argument(help: "The id of the app; all if there is none.", completion: .apps)
  var app: String?

  @Option(help: ArgumentHelp("How far to look back and ahead, 168 at most.", valueName: "number"))
  var hours = 24

  @Option(help: ArgumentHelp("Write the picture into a file.", valueName: "file"), completion: .file())
  var svg: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    try checkHours(hours)
    if svg != nil, connection.json {
      throw ValidationError("cannot write a picture as JSON; leave out --svg or --json")
    }
  }

  func run() throws {
    let answers = try answers()
    guard let svg else { return try connection.show(answers) { $0.text(Timeline(answers, now: $0.now)) } }
    let screen = Screen(of: STDOUT_FILENO)
    try Self.write(TimelinePicture(Timeline(answers, now: screen.now), screen).text, into: svg)
    if isatty(STDOUT_FILENO) == 1 { print("The picture is in \(svg).") }
  }

  private func answers() throws -> TimelineAnswers {
    let daemon = try Daemon(connection)
    let now = Screen(of: STDOUT_FILENO).now
    let all = try app.map { [$0] } ?? daemon.call(ManagerInterface.List.self, .init()).apps.map(\.id)
    let since = now - Int64(hours) * 3_600_000_000
    let apps = try all.prefix(Self.mostApps).map { app in
      let timeline = try daemon.call(ManagerInterface.Timeline.self, .init(app: app, sinceMicroseconds: since))
      return TimelineAnswers.App(app: app, timeline: timeline)
    }
    return TimelineAnswers(
      sinceMicroseconds: since, apps: apps, leftOut: all.count - apps.count,
      forecast: try daemon.call(ManagerInterface.Forecast.self, .init(hours: hours, app: app)))
  }

  private static func write(_ text: String, into path: String) throws(Failure) {
    guard let file = fopen(path, "we") else { throw refusal(path) }
    let isWritten = fputs(text, file) >= 0
    guard fclose(file) == 0, isWritten else { throw refusal(path) }
  }

  private static func refusal(_ path: String) -> Failure {
    Failure(
      status: .failed,
      text: "cannot write the picture to \(path): \(String(cString: strerror(errno))); name another file with --svg")
  }
}

/// What the daemon answered of the hours before and after now.
struct TimelineAnswers: JSONWritable {
  /// One app and what became of it.
  struct App: JSONWritable {
    let app: String
    let timeline: ManagerInterface.Timeline.Reply

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("app", app)
      json.member("timeline", timeline)
      json.endObject()
    }
  }

  /// From when, microseconds of the wall clock.
  let sinceMicroseconds: Int64
  let apps: [App]
  /// How many apps more there are than a picture holds.
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
