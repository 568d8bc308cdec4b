import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import RefreshEngine

struct RunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Refresh an app now and wait for the outcome, or schedule a refresh.",
    discussion: """
      Prints the output of the tasks, each line after the name of its task. Exits with 0 for new data, 100 for no \
      data and 1 for a failure. Ctrl-C ends the wait, not the refresh. With --no-wait, exits with 0 once the refresh \
      has started or follows the running one, and with 75 if something holds it; it starts when nothing does. With \
      --after, exits with 0 once the refresh is scheduled.
      """)

  @Argument(help: "The id of the app, or a part of it.", completion: .apps)
  var app: String

  @Option(help: "The trigger that the tasks get; manual if absent.")
  var trigger: EnumArgument<Wire.Trigger>?

  @Option(
    help: ArgumentHelp(
      "With --trigger push: the payload that the tasks get; - reads it from standard input.", valueName: "json"))
  var payload: String?

  @Flag(help: "Ignore the app's constraints: refresh on any network, on battery, while the machine is used or busy.")
  var anyway = false

  @Flag(help: "Return as soon as the refresh has started, or is known to be held.")
  var noWait = false

  @Option(
    help: ArgumentHelp("Refresh once, this much later, such as 10min.", valueName: "duration"),
    transform: readDuration)
  var after: Duration?

  @Option(help: "With --after: a reason, which `why` shows.")
  var reason: String?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if after == nil, reason != nil {
      throw ValidationError("cannot keep a reason for a refresh that starts now; give --after, or leave out --reason")
    }
    if payload != nil, trigger?.value != .push {
      throw ValidationError("cannot use a payload with this trigger; write --trigger push, or leave out --payload")
    }
    if payload != nil, noWait {
      throw ValidationError(
        "cannot use a payload with --no-wait; leave out --no-wait, or use `refreshctl push`")
    }
    if after != nil, anyway || noWait {
      throw ValidationError("cannot do this for a later refresh; leave out --after, or --anyway and --no-wait")
    }
    if anyway, trigger != nil {
      throw ValidationError("cannot combine --trigger with --anyway; leave out --trigger")
    }
    if after != nil, trigger != nil {
      throw ValidationError("cannot choose the trigger of a later refresh; leave out --trigger or --after")
    }
    if trigger?.value == .reported {
      throw ValidationError("cannot start a refresh with the trigger reported; run `refreshctl synced` after a sync")
    }
  }

  func run() throws {
    if let after { return try schedule(after: after) }
    let payload = payload == "-" ? try readPayload() : payload
    let status = try connection.naming(app) { app throws(Failure) in try refresh(app, payload) }
    throw ExitCode(status.rawValue)
  }

  private func schedule(after delay: Duration) throws(Failure) {
    let earliest = Screen(of: STDOUT_FILENO).now + delay.inMicroseconds
    try connection.naming(app) { app throws(Failure) in
      try connection.ask(
        ManagerInterface.Schedule.self, .init(app: app, earliestMicroseconds: earliest, reason: reason)
      ) { screen, reply in
        ["\(app) will be refreshed \(screen.relativeAndClock(reply.oneShot.earliestMicroseconds))."]
      }
    }
  }

  /// Refreshes the app, and returns the exit status of the result.
  private func refresh(_ app: String, _ payload: String?) throws(Failure) -> ExitStatus {
    var status: ExitStatus?
    let parameters = ManagerInterface.Run.Parameters(
      app: app, trigger: trigger?.value, anyway: anyway ? true : nil, payload: payload)
    let daemon = try DaemonClient(connection)
    try daemon.follow(ManagerInterface.Run.self, parameters, isAnsweredAtOnce: true) { reply throws(Failure) in
      if connection.json { try connection.showStep(reply) }
      let event = reply.event
      switch event.kind {
      case .queued:
        report(event.words(about: app))
        status = noWait ? .done : nil
      case .held:
        for line in held(app, by: event.holds ?? []) { report(line) }
        status = noWait ? .heldOrNotStored : nil
      case .started:
        report(event.words(about: app))
        status = noWait ? .done : nil
      case .output: printOutput(event.text ?? "", of: event.task ?? "")
      case .finished:
        guard let refresh = event.refresh else { return true }
        report(Screen(of: STDERR_FILENO).ending(refresh))
        status = ExitStatus(refresh)
      }
      return status == nil
    }
    guard let status else {
      throw Failure(
        status: .protocolError, text: "cannot find out how the refresh of \(app) ended: the daemon did not report it")
    }
    return status
  }

  /// Describes each hold: its current value, its needed value, and the remedy.
  private func held(_ app: String, by holds: [Wire.Hold]) -> [String] {
    let screen = Screen(of: STDERR_FILENO)
    let why: Wire.Explanation?
    do throws(Failure) {
      why = try DaemonClient(connection).call(ManagerInterface.Why.self, .init(app: app)).why
    } catch {
      // The holds have their remedies without this reply.
      why = nil
    }
    return screen.text(holds, of: app, why, mayForce: !anyway)
  }

  /// Prints progress to standard error; standard output holds only the output of the tasks.
  private func report(_ text: String) {
    guard !connection.json else { return }
    let screen = Screen(of: STDERR_FILENO)
    fputs(screen.message(screen.encoded(text)) + "\n", stderr)
  }

  /// Prints a line of a task's output; on a terminal, without control characters.
  private func printOutput(_ line: String, of task: String) {
    guard !connection.json else { return }
    print("\(task): \(isatty(STDOUT_FILENO) == 1 ? printable(line) : line)")
    StandardOutput.flush()
  }
}

extension ExitStatus {
  /// The exit status of `run` for a refresh; a refresh that was stopped has failed, even if a task found new data.
  init(_ refresh: Wire.Refresh) {
    switch refresh.stopReason == nil ? refresh.outcome : .failed {
    case .newData: self = .done
    case .noData: self = .noData
    case .failed: self = .failed
    }
  }
}

struct ExpireCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "expire", abstract: "Stop a refresh as if its deadline were reached.",
    discussion: """
      The app is warned now, asked to end 5 s later (SIGTERM), and killed after its grace. The refresh counts and is \
      retried like one that reached its deadline. A second `expire` asks it to end at once. To test how an app expires, \
      start it with `refreshctl run --no-wait APP`, which prints the id.
      """)

  @Argument(help: "The id of the refresh, such as 12-345, or the id of its app.", completion: .apps)
  var id: String

  @OptionGroup var connection: ConnectionOptions

  func run() throws {
    guard Self.isRefresh(id) else {
      return try connection.naming(id) { app throws(Failure) in try expire(refresh: running(of: app)) }
    }
    try expire(refresh: id)
  }

  /// The id of the running refresh of an app.
  private func running(of app: String) throws(Failure) -> String {
    let shown = try DaemonClient(connection).call(ManagerInterface.Show.self, .init(app: app)).app
    if let guarded = shown.guarded { throw .isGuard(app, of: guarded.unit) }
    guard let running = shown.running else {
      throw Failure(
        status: .notFound,
        text: "cannot expire \(app): it is not being refreshed; start it with `refreshctl run \(app)`")
    }
    return running.id
  }

  private func expire(refresh: String) throws(Failure) {
    try connection.ask(ManagerInterface.Expire.self, .init(refresh: refresh)) { screen, reply in
      [
        "Refresh \(printable(refresh)) of \(printable(reply.app)) is asked to end \(screen.relativeAndClock(reply.deadlineMicroseconds))."
      ]
    }
  }

  /// Whether a text is the id of a refresh: two numbers.
  private static func isRefresh(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.count == 2 && parts.allSatisfy { UInt64($0) != nil }
  }
}

struct CompleteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "complete", abstract: "Report the outcome of a task; the task itself runs this.",
    discussion: "refreshd sets $REFRESH_TOKEN and $REFRESH_SOCKET for every task; they name the task and the daemon.")

  @Argument(help: "The outcome of the task.")
  var outcome: EnumArgument<Wire.Outcome>

  @Option(help: "A line for the history.")
  var message: String?

  @Option(
    help: ArgumentHelp("With failed: the shortest time until the retry.", valueName: "span"), transform: readDuration)
  var retryAfter: Duration?

  @OptionGroup var connection: ConnectionOptions

  func validate() throws {
    if retryAfter != nil, outcome.value != .failed {
      throw ValidationError("cannot use --retry-after for a success; leave it out, or complete with failed")
    }
  }

  func run() throws {
    guard let token = environmentVariable("REFRESH_TOKEN") else {
      throw Failure(
        status: .notFound,
        text: "cannot find the task to complete: REFRESH_TOKEN is not set; run this from a task of an app")
    }
    let retryAfter = retryAfter?.inMicroseconds
    try connection.ask(
      AppInterface.Complete.self,
      .init(token: token, outcome: outcome.value, message: message, retryAfterMicroseconds: retryAfter)
    ) { _, _ in [] }
  }
}

struct SyncedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "synced", abstract: "Report that an app has synced by itself.",
    discussion: """
      It counts as a refresh: the data is fresh, the next refresh comes an interval later, and refreshd learns from it \
      how often there is new data. It does not count as an opening. A task of a refresh runs `complete` instead.
      """)

  @OptionGroup var arguments: AppArguments

  @Flag(help: "There was new data.")
  var newData = false

  func run() throws {
    try arguments.ask(AppInterface.Synced.self, { .init(app: $0, newData: newData) }) { _, _, app in
      ["\(app) has been synced: \(newData ? "new data" : "no data")."]
    }
  }
}
