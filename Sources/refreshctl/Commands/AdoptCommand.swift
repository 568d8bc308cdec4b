import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI

struct AdoptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Print the app file that does what a timer of systemd does.",
    discussion: """
      Each setting of the timer is a comment with what becomes of it; NO EQUAL marks what is lost. With --now writes \
      the file, puts it in force and disables the timer; `refreshctl unadopt` undoes that. With --list shows every \
      timer and what it would gain.
      """)

  @Argument(help: "The timer, such as apt-daily.timer.")
  var timer: String?

  @Flag(help: "Show every timer of the machine, or of the user with --user.")
  var list = false

  @Flag(help: "Write the file, reload refreshd, and disable and stop the timer.")
  var now = false

  @Flag(help: "A timer of your own service manager, for your own daemon.")
  var user = false

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if list == (timer != nil) {
      throw ValidationError("cannot tell which timer is meant; write its name, or --list for all")
    }
    if list, now { throw ValidationError("cannot adopt all timers at once; write the name of one, or leave out --now") }
  }

  func run() throws {
    let survey = TimerSurvey(isUser: user)
    guard let timer else { return try showAll(survey) }
    let name = timer.hasSuffix(".timer") ? timer : "\(timer).timer"
    let existing = survey.file(of: name)
    guard !existing.isThere else {
      throw Failure(
        status: .failed,
        text: "cannot adopt \(name): \(existing.path) is there; run `refreshctl unadopt \(name)` first")
    }
    var adoption = try adoption(of: name, survey)
    if now {
      try adopt(adoption, survey)
      adoption.isDone = true
    }
    try connection.show(adoption) { $0.text(adoption) }
  }

  private func adoption(of name: String, _ survey: TimerSurvey) throws(Failure) -> Adoption {
    guard let settings = try survey.settings(of: [name]).first else {
      throw Failure(status: .notFound, text: "cannot find \(name)")
    }
    switch try survey.adoption(of: settings) {
    case .success(let adoption): return adoption
    case .failure(let obstacle):
      throw Failure(
        status: settings.loadState == "not-found" ? .notFound : .failed,
        text:
          "cannot adopt \(printable(name)): \(printable(obstacle.reason)); `refreshctl adopt --list` shows the timers")
    }
  }

  /// Puts the app in force, then turns the timer off; a failure leaves both as they were.
  private func adopt(_ adoption: Adoption, _ survey: TimerSurvey) throws(Failure) {
    let (file, mark) = (AdoptedFile(path: adoption.path), TimerMark(adoption.timer))
    try file.create(adoption.file)
    do throws(Failure) {
      _ = try DaemonClient(connection).call(ManagerInterface.Reload.self, .init())
      for call in mark.off { try survey.systemctl.run(call) }
    } catch {
      try file.remove()
      reloadAgain()
      // A timer that was stopped, and then could not be kept off, goes on.
      if mark.wasActive {
        do throws(Failure) { try survey.systemctl.run(["start", mark.timer]) } catch { warn(error.text) }
      }
      throw error
    }
  }

  private func reloadAgain() {
    do throws(Failure) {
      _ = try DaemonClient(connection).call(ManagerInterface.Reload.self, .init())
    } catch {
      warn("the file is removed, but refreshd did not read its files again: \(error.text)")
    }
  }

  private func showAll(_ survey: TimerSurvey) throws(Failure) {
    var timers: [SurveyedTimer] = []
    for settings in try survey.settings(of: try survey.systemctl.timers()) {
      timers.append(
        SurveyedTimer(
          timer: settings, adoption: try survey.adoption(of: settings),
          isAdopted: survey.file(of: settings.name).isThere)
      )
    }
    let list = TimerList(timers: timers)
    try connection.show(list) { $0.text(list) }
  }
}
