import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI

struct AdoptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "adopt", abstract: "Print an app file equivalent to a systemd timer.",
    discussion: """
      Comments say what becomes of each setting of the timer; LOST marks settings that have no equivalent. With \
      --now it writes the file, applies it and disables the timer; `refreshctl unadopt` undoes that. With --list it \
      shows every timer and what it would gain.
      """)

  @Argument(help: "The timer, such as apt-daily.timer.", completion: .timers)
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
      throw ValidationError("cannot adopt without a timer; write its name, or --list for all")
    }
    if list, now { throw ValidationError("cannot adopt all timers at once; write the name of one, or leave out --now") }
  }

  func run() throws {
    let survey = TimerSurvey(isUser: user)
    guard let timer else { return try showAll(survey) }
    let name = timer.hasSuffix(".timer") ? timer : "\(timer).timer"
    let existing = survey.file(of: name)
    guard !existing.isThere else {
      let remedy =
        survey.isAdopted(name)
        ? "run `refreshctl unadopt \(printable(name))` first" : "it belongs to something else; rename or remove it"
      throw Failure(
        status: .failed, text: "cannot adopt \(printable(name)): \(existing.path) already exists; \(remedy)")
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

  /// Puts the app in force, then turns the timer off; undoes both after a failure.
  private func adopt(_ adoption: Adoption, _ survey: TimerSurvey) throws(Failure) {
    let (file, socket) = (AdoptedFile(path: adoption.path), SocketPath(ofTimersOfUser: user, connection))
    try file.create(adoption.file)
    var undo: [[String]] = []
    do throws(Failure) {
      try putInForce(adoption, at: socket)
      for call in adoption.mark.off {
        undo = adoption.mark.back
        try survey.systemctl.run(call)
      }
    } catch {
      for call in undo {
        do throws(Failure) { try survey.systemctl.run(call) } catch { warn(error.text) }
      }
      try file.remove()
      reloadAgain(at: socket, known: error)
      throw error
    }
  }

  /// Makes the daemon read its files, and checks that it uses this file.
  private func putInForce(_ adoption: Adoption, at socket: SocketPath) throws(Failure) {
    _ = try DaemonClient(at: socket).call(ManagerInterface.Reload.self, .init())
    var used: String?
    do throws(Failure) {
      used = try DaemonClient(at: socket).call(ManagerInterface.Show.self, .init(app: adoption.app)).app.file
    } catch {
      guard error.status == .notFound else { throw error }
    }
    guard used != adoption.path else { return }
    let instead = used.map { "it has \(printable($0)) instead" } ?? "it reads other directories"
    throw Failure(
      status: .failed,
      text: "cannot adopt \(printable(adoption.timer.name)): the daemon at \(socket.path) does not use "
        + "\(adoption.path); \(instead); `refreshctl status` names what it reads")
  }

  private func reloadAgain(at socket: SocketPath, known: Failure) {
    do throws(Failure) {
      _ = try DaemonClient(at: socket).call(ManagerInterface.Reload.self, .init())
    } catch {
      // The earlier error already names a mistake in another file, or an absent daemon.
      if error.text != known.text {
        warn("the file is removed, but refreshd did not read its files again: \(error.text)")
      }
    }
  }

  private func showAll(_ survey: TimerSurvey) throws(Failure) {
    var timers: [SurveyedTimer] = []
    for settings in try survey.settings(of: try survey.systemctl.timers()) {
      timers.append(
        SurveyedTimer(
          timer: settings, adoption: try survey.adoption(of: settings),
          isAdopted: survey.isAdopted(settings.name)))
    }
    let list = TimerList(timers: timers)
    try connection.show(list) { $0.text(list) }
  }
}

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
          "cannot give \(printable(name)) back: \(file.path) does not exist; `refreshctl adopt --list` shows what is adopted"
      )
    }
    let text = try file.text()
    guard let mark = TimerMark(in: text) else {
      throw Failure(
        status: .failed,
        text: "cannot give \(printable(name)) back: \(file.path) does not say what the timer was like; "
          + "remove it, run `refreshctl reload`, and enable the timer with systemctl")
    }
    guard mark.timer == name else {
      throw Failure(
        status: .failed,
        text: "cannot give \(printable(name)) back: \(file.path) belongs to \(printable(mark.timer)); "
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

  /// Makes the daemon forget the app; if no daemon runs, nothing starts it anyway.
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

extension SocketPath {
  /// The named socket, else that of the daemon for the machine's or the user's timers.
  init(ofTimersOfUser isUser: Bool, _ options: ConnectionOptions) {
    if options.socket != nil || environmentVariable("REFRESH_SOCKET") != nil {
      self = .find(named: options.socket)
    } else if isUser {
      let runtime = environmentVariable("XDG_RUNTIME_DIR") ?? "/run/user/\(geteuid())"
      self = .ofUser(runtime: runtime)
    } else {
      self = .system
    }
  }
}

/// The timers of a service manager.
struct TimerList: JSONWritable {
  let timers: [SurveyedTimer]

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("timers", timers.map(TimerRow.init))
    json.endObject()
  }

  private struct TimerRow: JSONWritable {
    let timer: SurveyedTimer

    init(_ timer: SurveyedTimer) { self.timer = timer }

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("active", timer.timer.isActive)
      json.member("adopted", timer.isAdopted)
      json.member("gains", timer.gains)
      json.member("obstacle", timer.obstacle)
      json.member("timer", timer.timer.name)
      json.member("unit", timer.timer.unit)
      json.endObject()
    }
  }
}

extension SurveyedTimer {
  /// The reason why no app can replace the timer; nil if an app can.
  var obstacle: String? {
    // The mask on an adopted timer is not an obstacle, because `adopt` set it.
    if case .failure(let obstacle) = adoption, !isAdopted { obstacle.reason } else { nil }
  }

  fileprivate var cells: [Cell] {
    let state =
      isAdopted ? Cell("adopted", .good) : Cell(timer.isActive ? "active" : "off", timer.isActive ? .plain : .faint)
    let gain = obstacle.map { Cell("cannot: \($0)", .faint) } ?? Cell(gains.joined(separator: ", "))
    return [Cell(timer.name), state, gain]
  }
}

extension Screen {
  /// The timers and the gains of each.
  func text(_ list: TimerList) -> [String] {
    guard !list.timers.isEmpty else { return ["There are no timers."] }
    var table = Table(titles: ["TIMER", "STATE", "GAINS"], prose: 2)
    table.rows = list.timers.map(\.cells)
    return table.lines(on: self) + [""]
      + wrapped(
        "Every adopted timer also says why it runs and when (`refreshctl why`), and how it went (`refreshctl history`). "
          + "`refreshctl adopt TIMER` shows what happens to its settings.")
  }

  /// The file of the app; when it is in force, the new state of the timer.
  func text(_ adoption: Adoption) -> [String] {
    guard adoption.isDone else {
      return adoption.file.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
        .dropLast()
    }
    let lost = adoption.remarks.filter(\.isLost).flatMap {
      wrapped("Lost: \(printable($0.setting)): \($0.meaning).")
    }
    return wrapped(
      "refreshd starts \(printable(adoption.timer.unit)) now, and \(printable(adoption.timer.name)) is off.")
      + lost
      + wrapped(
        "The app is \(adoption.app), its file \(adoption.path). `refreshctl why \(adoption.app)` says when it runs; "
          + "`refreshctl unadopt \(printable(adoption.timer.name))` undoes this.")
  }
}
