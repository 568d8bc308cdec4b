import ArgumentParser
import JSON
import RefreshAPI

struct UnadoptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unadopt", abstract: "Give a timer back to systemd: remove its app and enable the timer as it was.")

  @Argument(help: "The timer, such as apt-daily.timer.", completion: .timers)
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
    let text = try file.text()
    guard let mark = TimerMark(in: text) else {
      throw Failure(
        status: .failed,
        text: "cannot give \(printable(name)) back: \(file.path) does not say how the timer was; "
          + "remove it, run `refreshctl reload`, and enable the timer with systemctl")
    }
    guard mark.timer == name else {
      throw Failure(
        status: .failed,
        text: "cannot give \(printable(name)) back: \(file.path) stands for \(printable(mark.timer)); "
          + "give that one back, or correct the name")
    }
    // Restore the timer first: if this fails, the file still holds its state, and the command can be run again.
    for call in mark.back { try survey.systemctl.run(call) }
    var fate = "\(file.path) is removed"
    if mark.isUnchanged(text) {
      try file.remove()
    } else {
      fate = "\(file.path), which was edited, is now \(try file.setAside())"
      if connection.json { warn(fate) }
    }
    forgetApp(Adoption.id(of: name), at: SocketPath(ofTimersOfUser: user, connection))
    let answer = UnadoptAnswer(timer: name, file: file.path)
    try connection.show(answer) { screen in
      screen.wrapped("\(printable(name)) is as it was before, and \(fate).")
    }
  }

  /// Makes the daemon forget the app; without a daemon nothing could start it.
  private func forgetApp(_ app: String, at socket: SocketPath) {
    do throws(Failure) {
      _ = try DaemonClient(at: socket).call(ManagerInterface.Reload.self, .init())
    } catch {
      warn("the app's file is removed, but refreshd did not read its files again: \(error.text)")
      return
    }
    do throws(Failure) {
      _ = try DaemonClient(at: socket).call(ManagerInterface.Erase.self, .init(app: app))
    } catch {
      // The daemon may not have known the app.
      guard error.status != .notFound else { return }
      warn(
        "refreshd keeps the history of \(app) for 90 days; run `refreshctl forget \(app)` to forget it later: "
          + error.text)
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
