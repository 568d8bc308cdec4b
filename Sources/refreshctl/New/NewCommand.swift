import ArgumentParser
@preconcurrency import Glibc
import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine

extension NetworkConstraint: ExpressibleByArgument {}
extension PowerConstraint: ExpressibleByArgument {}

struct NewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "new", abstract: "Write the file of a new app, check it, and reload.",
    discussion: """
      Without an id or a command it asks for them on a terminal. The file goes into apps.d of your own daemon, or of the \
      system's daemon if you are root; --user and --system choose. It is checked before it is written, and replaces \
      an existing file only with --force.
      """)

  @Argument(help: "The id of the app, in reverse-DNS form, such as org.example.mail.")
  var id: String?

  @Option(
    name: .customLong("run"),
    help: ArgumentHelp(
      "A program with its arguments, such as \"mbsync inbox\"; no shell. Given twice, both run side by side.",
      valueName: "command"))
  var commands: [String] = []

  @Option(help: ArgumentHelp("A command line for /bin/sh.", valueName: "command"))
  var shell: [String] = []

  @Option(
    help: ArgumentHelp("The interval in the background: a duration, `never` or `auto`.", valueName: "interval"))
  var every: String?

  @Option(help: ArgumentHelp("The interval in the foreground.", valueName: "interval"))
  var foreground: String?

  @Option(help: "The network that a refresh needs.")
  var network: NetworkConstraint?

  @Option(help: "The power supply that a refresh needs.")
  var power: PowerConstraint?

  @Option(help: ArgumentHelp("The deadline of a refresh.", valueName: "duration"))
  var deadline: String?

  @Option(help: ArgumentHelp("What counts as new data: exit, output or changed:PATH.", valueName: "rule"))
  var newData: String?

  @Option(help: ArgumentHelp("The name for people.", valueName: "text"))
  var name: String?

  @Option(
    help: ArgumentHelp("The user that the tasks run as; only for the system's daemon.", valueName: "user"),
    completion: .shellCommand("getent passwd | cut -d: -f1"))
  var owner: String?

  @Flag(help: "Write for your own daemon.")
  var user = false

  @Flag(help: "Write for the system's daemon.")
  var system = false

  @Flag(help: "Replace the file if it exists.")
  var force = false

  @Flag(name: .customLong("print"), help: "Only print the file; write nothing.")
  var isPrinted = false

  @OptionGroup var connection: ConnectionOptions

  /// The owner of a new app of the system's daemon: the caller of sudo(8), else root.
  static var standardOwner: String { environmentVariable("SUDO_USER") ?? "root" }

  func validate() throws {
    if user && system {
      throw ValidationError("cannot write for two daemons; leave out --user or --system")
    }
    if user || system, connection.socket != nil {
      throw ValidationError("cannot write for two daemons; leave out --socket, or --user and --system")
    }
  }

  func run() throws {
    let home = try AppHome.find(socket: connection.socket, daemon: user ? .user : system ? .system : nil)
    guard let folder = home.sources.appsFolder else {
      throw Failure(
        status: .protocolError, text: "cannot find out where the daemon reads apps; give --user or --system")
    }
    let questions = NewAppQuestions(home: home) { draft in
      Configuration.problems(addedBy: draft.text, named: draft.fileName, to: home.sources, as: home.reader)
    }
    var draft = try given()
    // Check before the questions, so that nobody answers them in vain.
    if !draft.id.isEmpty { try refuseExisting(draft, home) }
    let isAsked = draft.id.isEmpty || draft.tasks.isEmpty
    if isAsked {
      guard NewAppQuestions.canBeAsked else { throw Self.incomplete(draft) }
      try questions.complete(&draft, hasID: !draft.id.isEmpty)
    }
    if home.hasManyOwners { draft.owner = draft.owner ?? Self.standardOwner }
    let path = "\(folder)/\(draft.fileName)"
    try check(questions.problems(draft), path)
    if !isPrinted {
      try refuseExisting(draft, home)
      if isAsked, try !questions.agrees(to: draft.text, at: path) {
        throw Failure(status: .failed, text: "cannot write the app: you did not confirm it, so nothing is written")
      }
      try AppFileWriter.write(draft.text, to: path, replaces: force)
      if home.isAnswered { try Self.reload(home.socket, path) }
    }
    let answer = NewAppAnswer(
      app: draft.id, file: path, text: draft.text, isInForce: !isPrinted && home.isAnswered)
    try connection.show(answer) { isPrinted ? [String(draft.text.dropLast())] : $0.text(answer, home.socket) }
  }

  private func refuseExisting(_ draft: AppDraft, _ home: AppHome) throws(Failure) {
    if !force, !isPrinted, let existing = home.sources.appFile(named: draft.fileName) {
      throw AppFileWriter.existing(existing)
    }
  }

  /// The app draft from the command line.
  private func given() throws(Failure) -> AppDraft {
    var draft = AppDraft(
      id: id ?? "", name: name, owner: owner, foregroundInterval: foreground, backgroundInterval: every,
      network: network?.rawValue, power: power?.rawValue, deadline: deadline, newData: newData)
    for line in commands {
      do throws(ShellWords.Refusal) {
        draft.tasks.append(.run(try ShellWords.split(line)))
      } catch {
        throw Self.refusal(of: line, error)
      }
    }
    draft.tasks += shell.map(AppDraft.Task.shell)
    return draft
  }

  private static func refusal(of line: String, _ refusal: ShellWords.Refusal) -> Failure {
    switch refusal {
    case .open(let quote):
      Failure(status: .usage, text: "cannot split \(printable(line)) into words: a \(quote) is not closed; close it")
    case .needsShell(let character):
      Failure(
        status: .usage,
        text: "cannot run \(printable(line)) without a shell: it has a \(printable(String(character))); "
          + "give --shell in place of --run, or quote it")
    }
  }

  private static func incomplete(_ draft: AppDraft) -> Failure {
    Failure(
      status: .usage,
      text: draft.id.isEmpty
        ? "cannot write an app without an id, and there is no terminal to ask on; write for example `refreshctl new org.example.mail --run \"mbsync inbox\"`"
        : "cannot write \(printable(draft.id)) without a command, and there is no terminal to ask on; give --run or --shell"
    )
  }

  /// Refuses a draft with mistakes; warnings go to standard error.
  private func check(_ problems: [Problem], _ path: String) throws(Failure) {
    for warning in problems where warning.isWarning { warn("warning: \(Wire.Problem(warning).line())") }
    let mistakes = problems.filter { !$0.isWarning }
    guard !mistakes.isEmpty else { return }
    let lines = mistakes.map { mistake in
      printable([mistake.key, "\(mistake.message); \(mistake.remedy)"].compactMap(\.self).joined(separator: ": "))
    }
    throw Failure(
      status: .badData,
      text: "cannot write \(printable(path)), so nothing is changed:\n" + lines.joined(separator: "\n"))
  }

  private static func reload(_ socket: SocketPath, _ path: String) throws(Failure) {
    do throws(Failure) {
      _ = try DaemonClient(socket: socket.path).call(ManagerInterface.Reload.self, .init())
    } catch {
      throw Failure(
        status: error.status,
        text:
          "cannot apply \(printable(path)): the file is written, and `refreshctl reload` tries again: \(error.text)")
    }
  }
}

/// The result of `new`.
struct NewAppAnswer: JSONWritable {
  let app: String
  /// The path of the file.
  let file: String
  /// The text of the file.
  let text: String
  /// Whether a daemon has read the file.
  let isInForce: Bool

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("app", app)
    json.member("file", file)
    json.member("is_in_force", isInForce)
    json.member("text", text)
    json.endObject()
  }
}

extension Screen {
  /// The file that `new` has written, and the next steps.
  func text(_ answer: NewAppAnswer, _ socket: SocketPath) -> [String] {
    let file = printable(answer.file)
    guard answer.isInForce else {
      return ["\(file) is written."] + wrapped("No daemon reads it yet; \(socket.remedy).")
    }
    let app = printable(answer.app)
    return ["\(file) is written and applied."]
      + wrapped("`refreshctl why \(app)` says when it is refreshed; `refreshctl run \(app)` refreshes it now.")
  }
}
