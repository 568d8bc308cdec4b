import ArgumentParser
import JSON
import RefreshAPI

struct UnadoptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unadopt", abstract: "Give a timer back to systemd: remove its app and enable the timer as it was.")

  @Argument(help: "The timer, such as apt-daily.timer.")
  var timer: String

  @Flag(help: "A timer of your own service manager, from your own daemon.")
  var user = false

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    let name = timer.hasSuffix(".timer") ? timer : "\(timer).timer"
    let survey = TimerSurvey(isUser: user)
    let file = survey.file(of: name)
    guard file.isThere else {
      throw Failure(
        status: .notFound,
        text:
          "cannot give \(printable(name)) back: there is no \(file.path); `refreshctl adopt --list` shows what is adopted"
      )
    }
    guard let mark = TimerMark(in: try file.text()), mark.timer == name else {
      throw Failure(
        status: .failed,
        text: "cannot give \(printable(name)) back: \(file.path) does not say how the timer was; "
          + "remove it, run `refreshctl reload`, and enable the timer with systemctl")
    }
    try file.remove()
    forgetApp(Adoption.id(of: name))
    for call in mark.back { try survey.systemctl.run(call) }
    let answer = UnadoptAnswer(timer: name, file: file.path)
    try connection.show(answer) { screen in
      screen.wrapped("\(name) is as it was before, and \(file.path) is removed.")
    }
  }

  /// Has the daemon forget the app; without a daemon there is nothing that could start it.
  private func forgetApp(_ app: String) {
    do throws(Failure) {
      let client = try DaemonClient(connection)
      _ = try client.call(ManagerInterface.Reload.self, .init())
      _ = try client.call(ManagerInterface.Erase.self, .init(app: app))
    } catch {
      warn("the app's file is removed, but refreshd has not forgotten the app: \(error.text)")
    }
  }
}

/// The answer of `unadopt`.
struct UnadoptAnswer: JSONWritable {
  let timer: String
  let file: String

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("file", file)
    json.member("timer", timer)
    json.endObject()
  }
}
