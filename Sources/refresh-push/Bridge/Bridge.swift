import Glibc
import HTTP
import RefreshAPI

/// Brings the messages of all sources to the daemon.
///
/// One thread and one loop. A message is acknowledged, or its id remembered, only when the daemon has stored it; while
/// the daemon is gone, its sources keep their connections and wait. The bridge decides when a source connects: when it
/// is due by its back-off, and never while the daemon says that the network may not be used.
@MainActor
final class Bridge {
  typealias Instant = ContinuousClock.Instant

  /// All exchanges over HTTP.
  let loop: ExchangeLoop
  /// Where each source goes on.
  let memory: Memory
  /// The files that hold them.
  let secrets: Secrets
  let journal = BridgeJournal()
  private let link: DaemonLink
  private nonisolated let main: MainQueue
  private var records: [SourceRecord] = []
  private var chance = SystemRandomNumberGenerator()
  /// What the daemon last said of the network.
  private var policy: DaemonLink.Policy?
  private var isDaemonThere = false
  /// The last network that it had a word for; empty if there was none yet.
  private var network = ""
  /// Whether the journal was last told that the daemon takes messages.
  private var isTaking = false
  /// What the journal was last told that stands between the bridge and the daemon.
  private var toldProblem: String?
  /// Whether the daemon is to be told anew how the sources are, and when at the earliest.
  private var isReportDue = false
  private var nextReport = Instant.now

  /// Makes it without sources.
  init(_ socket: SocketPath, memory: Memory, secrets: Secrets, loop: ExchangeLoop) throws(PushError) {
    self.memory = memory
    self.secrets = secrets
    self.loop = loop
    main = try MainQueue()
    link = DaemonLink(socket)
  }

  // MARK: For sources

  /// Messages of the source can come.
  func connected(_ source: any Source) {
    guard let record = record(of: source), record.state.phase == .trying else { return }
    record.state.connects(at: .now)
    record.toldProblem = nil
    journal.connected(source)
    reportSoon()
  }

  /// The source has no connection any more, or could not make one, and why: one line without secrets.
  func lost(_ source: any Source, why: String, next: NextTry = .backOff) {
    guard let record = record(of: source), record.state.isEngaged else { return }
    let now = Instant.now
    let wasConnected = record.state.isConnected
    record.state.loses(why, next: next, at: now, &chance)
    // The same again and again is told once.
    if wasConnected || record.toldProblem != why {
      journal.lost(source, why, retryIn: record.state.retry.map { now.duration(to: $0) })
    }
    record.toldProblem = why
    reportSoon()
  }

  /// Takes messages of a source; `then` is called once with what has become of each, later, and also if the source is
  /// disconnected meanwhile.
  ///
  /// What is taken stays in memory until then, so that a source hands over no more than it can pay for.
  func take(_ messages: [Message], from source: any Source, then: @escaping ([Acceptance]) -> Void) {
    guard let record = record(of: source) else { return then(messages.map { _ in .later }) }
    record.received += messages.count
    reportSoon()
    // A call that is too large would end the connection, and with it every source's way to the daemon, again and again.
    let fits = messages.map(\.fits)
    // The source stays until the answer, also when other sources are in force by then: it remembers what is stored.
    link.add(messages.filter(\.fits), from: ObjectIdentifier(source)) { [weak self] answers in
      var rest = answers[...]
      let acceptances = fits.map { $0 ? rest.popFirst() ?? .later : Acceptance.refused(Message.tooLarge) }
      for case (let message, .refused(let reason)) in zip(messages, acceptances) {
        self?.refuse(reason, app: message.app, from: source)
      }
      then(acceptances)
    }
  }

  /// Forgets what the daemon was not given yet of a source that gets it again.
  func forget(_ source: any Source) { link.forget(ObjectIdentifier(source)) }

  /// Counts a message that the source itself refuses for ever, and why: one line with nothing of the message.
  func refuses(_ reason: String, app: String? = nil, from source: any Source) {
    record(of: source)?.received += 1
    refuse(reason, app: app, from: source)
  }

  /// Remembers where a source goes on; a disk that takes nothing is told of, and costs messages that come twice.
  func remember(_ place: Intake.Place, of name: String) {
    let text: String? = if case .after(let id) = place { id } else { nil }
    do throws(PushError) { try memory.remember(text, of: name) } catch { journal.cannot(error.description) }
  }

  /// Has something done on the main thread; for any thread.
  nonisolated func onMain(_ action: @escaping @MainActor () -> Void) { main.add(action) }

  private func refuse(_ reason: String, app: String?, from source: any Source) {
    record(of: source)?.refused += 1
    journal.refused(source, app: app, reason, at: .now)
    reportSoon()
  }

  private func record(of source: any Source) -> SourceRecord? { records.first { $0.source === source } }

  // MARK: Turning

  /// Takes other sources in the place of those that are there, which are disconnected.
  func replace(by sources: [any Source]) {
    disconnectAll()
    let old = records
    records = sources.map { source in
      let record = SourceRecord(source, at: .now)
      if let before = old.first(where: { $0.source.name == source.name && $0.source.kind == source.kind }) {
        (record.received, record.refused) = (before.received, before.refused)
      }
      return record
    }
    isReportDue = true
    nextReport = .now
  }

  /// Lets go of all connections.
  func disconnectAll() {
    for record in records where record.state.isEngaged { disconnect(record, "") }
  }

  /// Does what there is to do, waits until there is more, and answers which of the descriptors can be read.
  func turn(watching descriptors: [Int32], until moment: Instant?) -> Set<Int32> {
    act(at: .now)
    let wake = [moment, nextMoment].compactMap(\.self).min()
    let timeout = wake.map { max(.zero, Instant.now.duration(to: $0)) + .milliseconds(1) }
    let ready = loop.turn(watching: descriptors + [main.bell] + link.descriptors, timeout: timeout)
    if ready.contains(main.bell) { main.run() }
    return ready
  }

  private func act(at now: Instant) {
    link.hear(at: now, isWanted: !records.isEmpty)
    hearDaemon()
    connectDue(at: now)
    report(at: now)
    link.tell(at: now)
  }

  private var nextMoment: Instant? {
    let retries = policy?.mayConnect == true && link.isConnected ? records.compactMap(\.state.retry) : []
    return (retries + [link.retry, link.alarm, isReportDue && link.isConnected ? nextReport : nil].compactMap(\.self))
      .min()
  }

  /// Follows what the daemon says, and whether it is there.
  private func hearDaemon() {
    if link.isConnected != isDaemonThere {
      isDaemonThere = link.isConnected
      isReportDue = true
      nextReport = .now
    }
    if let problem = link.problem, problem != toldProblem { journal.daemonIsGone(problem) }
    toldProblem = link.problem
    if (link.isConnected && link.problem == nil) != isTaking {
      isTaking.toggle()
      if isTaking { journal.daemonIsThere() }
    }
    guard let heard = link.policy, heard != policy else { return }
    let last = policy
    policy = heard
    // A daemon that has just started may not know the network yet: that is no other one, nor is it when it does.
    let isOther = !network.isEmpty && !heard.network.isEmpty && heard.network != network
    if !heard.network.isEmpty { network = heard.network }
    if heard.mayConnect != last?.mayConnect ?? true { journal.mayConnect(heard.mayConnect) }
    for record in records {
      if !heard.mayConnect {
        disconnect(record, "the network may not be used")
      } else if isOther {
        disconnect(record, "the network is another one")
        record.state.changesNetwork()
      } else if last?.mayConnect == false {
        // The network is back.
        record.state.changesNetwork()
      }
    }
    reportSoon()
  }

  private func disconnect(_ record: SourceRecord, _ why: String) {
    guard record.state.isEngaged else { return }
    record.source.disconnect()
    record.state.rests(why, at: .now)
    link.forget(ObjectIdentifier(record.source))
  }

  private func connectDue(at now: Instant) {
    // Without the daemon nobody says whether the network may be used.
    guard link.policy?.mayConnect == true else { return }
    for record in records where record.state.isDue(at: now) {
      record.state.tries()
      record.source.connect()
    }
  }

  // MARK: What others are told

  /// Counts change with every message: they are told once a second.
  private func reportSoon() { isReportDue = true }

  private func report(at now: Instant) {
    guard isReportDue, link.isConnected, nextReport <= now else { return }
    isReportDue = false
    nextReport = now + .seconds(1)
    let wall = WallClock.microseconds()
    link.report(records.map { $0.wire(at: now, wall: wall) })
  }

  /// The line that `systemctl status` shows; it does not change by the second, because that wakes the service manager.
  func statusLine(refusedConfiguration: [String]) -> String {
    PushStatusLine.text(
      connected: records.count { $0.state.isConnected }, of: records.count,
      mayConnect: policy?.mayConnect ?? true, daemonProblem: link.problem,
      problems: records.compactMap { record in record.state.problem.map { "\(record.source.name): \($0)" } },
      refusedConfiguration: refusedConfiguration)
  }
}
