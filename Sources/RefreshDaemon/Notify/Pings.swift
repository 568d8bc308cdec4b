import RefreshAPI
import RefreshConfig
import RefreshEngine

/// The pings of apps: a request to the URL of the app's file when a refresh begins, succeeds or fails.
///
/// healthchecks.io and others receive them, and raise an alarm after too long a silence. refresh-worker sends each as the
/// app's owner, and no refresh waits for it. An app has one at a time. The queue keeps only the newest end of a refresh and
/// the beginning after it.
final class Pings: CommandOwner {
  /// The moment of a refresh that a ping reports.
  enum PingMoment {
    case begun
    case succeeded
    case failed

    /// The URL of the moment.
    func url(_ ping: HTTPURL) -> String {
      switch self {
      case .begun: ping.below("start")
      case .succeeded: ping.text
      case .failed: ping.below("fail")
      }
    }
  }

  /// A ping that failed.
  struct PingFailure {
    /// The reason, without secrets.
    let text: String
    /// When it failed, boot clock.
    let at: Instant
  }

  /// How long refresh-worker may take, including a second try, and when it gets SIGTERM.
  private static let (patience, deadline) = (Duration.seconds(12), Duration.seconds(15))
  /// How many pings of one user's apps are sent at once, and how many may queue; further pings are dropped.
  private static let (mostOfUser, mostWaiting) = (8, 1000)
  /// The most characters of a problem.
  private static let longestText = 200

  private unowned let core: DaemonCore
  private let journal: DaemonJournal
  private let environment: TaskEnvironment
  private let processes: Processes
  private lazy var queue = CommandQueue<PingMoment>(
    core, processes,
    CommandBounds(
      deadline: Self.deadline, mostOfUser: Self.mostOfUser, mostWaiting: Self.mostWaiting,
      longestLine: Self.longestText),
    for: self)
  /// The failed pings, of apps whose last ping failed.
  private var problems: [AppID: PingFailure] = [:]

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    (journal, processes) = (ports.journal, ports.processes)
  }

  /// Whether no ping is left, except pings that outlived SIGKILL.
  var isEmpty: Bool { queue.isEmpty }

  /// Why the last ping of an app failed; nil if it did not.
  func problem(of app: AppID) -> PingFailure? { problems[app] }

  /// Sends a ping, if the app's file has a URL for it.
  func send(_ moment: PingMoment, of app: AppConfiguration) {
    guard let url = app.ends.ping, !core.engine.isStopping else { return }
    let order: [UInt8]
    do {
      order = try Wire.PingOrder(url: moment.url(url), patienceMicroseconds: Self.patience.inMicroseconds).jsonBytes()
    } catch {
      return note("\(error)", of: app.id)
    }
    queue.removeWaiting(of: app.owner.uid) { $0.launch.app == app.id && (moment != .begun || $0.purpose == .begun) }
    let command = Command(
      arguments: [environment.worker, Wire.WorkerCommand.ping.rawValue], directory: "/",
      environment: app.ends.pingEnvironment)
    let run = core.makeRun(of: app.id, for: .ping)
    let launch = TaskLaunch(
      key: ProcessKey(run), app: app.id, command: command, owner: app.owner,
      environment: environment.variables(ofNotifyCommand: command, app: app, run: run, []),
      description: "\(app.name): ping", timeLimit: Self.deadline, grace: TerminationSequence.shortGrace,
      confinement: WorkerConfinement(writes: .folders([])), input: order, changedPath: nil)
    if queue.isStuck(app.id) { return note("the process of an earlier ping does not end", of: app.id) }
    if !queue.add(moment, launch) { note("\(Self.mostWaiting) pings of this user are already waiting", of: app.id) }
  }

  /// Forgets the problems of apps without a ping.
  func reconfigured() {
    problems = problems.filter { core.configuration[$0.key]?.ends.ping != nil }
  }

  /// Kills all pings, because the daemon stops.
  func killAll() { queue.killAll() }

  // MARK: - The queue's commands

  func mayStart(_ ping: QueuedCommand<PingMoment>) -> Bool { queue.isOfItsApp(ping) }

  func refused(_ ping: QueuedCommand<PingMoment>, _ reason: String) { note(reason, of: ping.launch.app) }

  func printed(_ line: String, by ping: RunningCommand<PingMoment>, _ run: RunID) {}

  func late(_ ping: RunningCommand<PingMoment>) {}

  func stuck(_ ping: RunningCommand<PingMoment>) {
    note("its process is blocked in the kernel and cannot be killed", of: ping.app)
  }

  func ended(_ ping: RunningCommand<PingMoment>, _ end: TaskEnd) {
    guard let trouble = end.trouble(of: "it") else { return note(nil, of: ping.app) }
    let isLate = ping.isLate ? "no answer within \(Self.deadline.components.seconds) s" : nil
    note(isLate ?? (ping.lastLine.isEmpty ? trouble : ping.lastLine), of: ping.app)
  }

  /// Keeps the result of an app's last ping; the journal gets the first failure, and the first success after it.
  private func note(_ problem: String?, of app: AppID) {
    let before = problems[app]
    // The app may have lost its ping or its file meanwhile.
    guard core.configuration[app]?.ends.ping != nil, !core.engine.isStopping else { return problems[app] = nil }
    problems[app] = problem.map { PingFailure(text: $0, at: core.now) }
    switch (before, problem) {
    case (_, let problem?) where before?.text != problem: journal.pingFailed(of: app, problem)
    case (_?, nil): journal.pingsAgain(app)
    default: break
    }
  }
}
