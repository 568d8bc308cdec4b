import CLinux
import Glibc
import HTTP
import RefreshAPI
import Synchronization

/// Hands the messages of all sources over to the daemon.
///
/// The bridge runs on a single thread with a single loop. A source acknowledges a message, or remembers its id, only
/// when the daemon has stored it. While the daemon is down, sources stay connected and wait. The bridge decides when a
/// source connects: after its back-off, and only while the daemon allows the use of the network.
@MainActor
final class Bridge {
  /// The loop of all HTTP exchanges.
  let loop: ExchangeLoop
  /// The stored position of each source.
  let state: BridgeState
  /// The files with secrets that push.toml names.
  let secrets: Secrets
  let journal = BridgeJournal()
  private let link: DaemonLink
  private nonisolated let main: MainQueue
  private var records: [SourceRecord] = []
  private var chance = SystemRandomNumberGenerator()
  /// The daemon's latest permission to use the network; nil before the first.
  private var permission: DaemonLink.Permission?
  private var isDaemonThere = false
  /// The last network with a name; empty before the first.
  private var network = ""
  /// Whether the last line in the journal says that the daemon accepts messages.
  private var isAccepting = false
  /// The last problem with the daemon that the journal has.
  private var reportedProblem: String?
  /// Whether the daemon needs a new report on the sources.
  private var isReportDue = false
  /// The earliest time of the next report.
  private var nextReport = ContinuousClock.Instant.now

  /// Makes a bridge without sources.
  init(_ socket: SocketPath, state: BridgeState, secrets: Secrets, loop: ExchangeLoop) throws(ServiceError) {
    self.state = state
    self.secrets = secrets
    self.loop = loop
    main = try MainQueue()
    link = DaemonLink(socket)
  }

  // MARK: For sources

  /// Marks the source as connected.
  func connected(_ source: any Source) {
    guard let record = record(of: source), record.state.stage == .trying else { return }
    record.state.connect(at: .now)
    record.reportedProblem = nil
    journal.connected(source)
    reportSoon()
  }

  /// Reports what a connected source cannot deliver; nil if it delivers everything.
  ///
  /// `why` is one line without secrets.
  func isLimited(_ source: any Source, by why: String?) {
    guard let record = record(of: source), record.state.isConnected, record.state.problem != why else { return }
    record.state.limit(why)
    if let why { journal.limited(source, why) }
    reportSoon()
  }

  /// Reports that the source has lost its connection, or could not connect.
  ///
  /// `why` is the reason, one line without secrets.
  func lost(_ source: any Source, why: String, next: NextTry = .backOff) {
    guard let record = record(of: source), record.state.isActive else { return }
    let now = ContinuousClock.Instant.now
    let wasConnected = record.state.isConnected
    record.state.fail(why, next: next, at: now, &chance)
    // A problem that repeats is written once.
    if wasConnected || record.reportedProblem != why {
      journal.lost(source, why, retryIn: record.state.retry.map { now.duration(to: $0) })
    }
    record.reportedProblem = why
    reportSoon()
  }

  /// Accepts messages of a source for the daemon.
  ///
  /// The bridge calls `then` once, later, with the fate of each message, even if the source is disconnected by then. The
  /// messages stay in memory until that call, so each source bounds how many it hands over.
  func receive(_ messages: [Message], from source: any Source, then: @escaping ([MessageFate]) -> Void) {
    guard let record = record(of: source) else { return then(messages.map { _ in .undelivered }) }
    record.received += messages.count
    reportSoon()
    // A call above the protocol's bound would end the connection of all sources to the daemon, again at every retry.
    let areWithinLimit = messages.map(\.isWithinLimit)
    // The closure keeps the source alive until the answer, even after a reload, so that its position is stored.
    link.add(messages.filter(\.isWithinLimit), from: ObjectIdentifier(source)) { [weak self] answers in
      var rest = answers[...]
      let fates = areWithinLimit.map {
        $0 ? rest.popFirst() ?? .undelivered : MessageFate.refused(Message.tooLarge)
      }
      for case (let message, .refused(let reason)) in zip(messages, fates) {
        self?.refuse(reason, app: message.app, from: source)
      }
      if fates.contains(.stored) { self?.record(of: source)?.state.bring() }
      then(fates)
    }
  }

  /// Drops the source's queued messages that the source will receive again.
  func forget(_ source: any Source) { link.forget(ObjectIdentifier(source)) }

  /// Counts a message that the source itself refuses for good.
  ///
  /// `reason` is one line without any content of the message.
  func refuses(_ reason: String, app: String? = nil, from source: any Source) {
    record(of: source)?.received += 1
    refuse(reason, app: app, from: source)
  }

  /// Stores the position of a source.
  ///
  /// If the disk refuses, the journal says so, and messages may be delivered twice.
  func remember(_ position: Intake.Position, of name: String) {
    let text: String? = if case .after(let id) = position { id } else { nil }
    do throws(ServiceError) { try state.remember(text, of: name) } catch { journal.cannot(error.description) }
  }

  /// Runs an action on the main thread; any thread may call this.
  nonisolated func onMain(_ action: @escaping @MainActor () -> Void) { main.add(action) }

  private func refuse(_ reason: String, app: String?, from source: any Source) {
    record(of: source)?.refused += 1
    journal.refused(source, app: app, reason, at: .now)
    reportSoon()
  }

  private func record(of source: any Source) -> SourceRecord? { records.first { $0.source === source } }

  // MARK: Turning

  /// Disconnects the present sources and replaces them.
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

  /// Closes all connections.
  func disconnectAll() {
    for record in records where record.state.isActive { disconnect(record, "") }
  }

  /// Runs one turn of the loop, and returns the given descriptors that are readable.
  func turn(watching descriptors: [Int32], until moment: ContinuousClock.Instant?) -> Set<Int32> {
    act(at: .now)
    let wake = [moment, nextMoment].compactMap(\.self).min()
    let timeout = wake.map { max(.zero, ContinuousClock.Instant.now.duration(to: $0)) + .milliseconds(1) }
    let ready = loop.turn(watching: descriptors + [main.eventDescriptor] + link.descriptors, timeout: timeout)
    if ready.contains(main.eventDescriptor) { main.run() }
    return ready
  }

  private func act(at now: ContinuousClock.Instant) {
    link.receive(at: now, isWanted: !records.isEmpty)
    followDaemon()
    connectDue(at: now)
    report(at: now)
    link.send(at: now)
  }

  private var nextMoment: ContinuousClock.Instant? {
    let retries = permission?.mayConnect == true && link.isConnected ? records.compactMap(\.state.retry) : []
    return (retries + [link.retry, link.alarm, isReportDue && link.isConnected ? nextReport : nil].compactMap(\.self))
      .min()
  }

  /// Applies the daemon's permission to use the network and the state of the connection to it.
  private func followDaemon() {
    if link.isConnected != isDaemonThere {
      isDaemonThere = link.isConnected
      isReportDue = true
      nextReport = .now
    }
    if let problem = link.problem, problem != reportedProblem { journal.daemonIsGone(problem) }
    reportedProblem = link.problem
    if (link.isConnected && link.problem == nil) != isAccepting {
      isAccepting.toggle()
      if isAccepting { journal.daemonIsThere() }
    }
    guard let latest = link.permission, latest != permission else { return }
    let last = permission
    permission = latest
    // An empty name means an unknown network, not a network change.
    let isOther = !network.isEmpty && !latest.network.isEmpty && latest.network != network
    if !latest.network.isEmpty { network = latest.network }
    if latest.mayConnect != last?.mayConnect ?? true { journal.mayConnect(latest.mayConnect) }
    for record in records {
      if !latest.mayConnect {
        disconnect(record, "the network may not be used")
      } else if isOther {
        disconnect(record, "the network has changed")
        record.state.resetForNewNetwork()
      } else if last?.mayConnect == false {
        // The network is back.
        record.state.resetForNewNetwork()
      }
    }
    reportSoon()
  }

  private func disconnect(_ record: SourceRecord, _ why: String) {
    guard record.state.isActive else { return }
    record.source.disconnect()
    record.state.disconnect(why, at: .now)
    link.forget(ObjectIdentifier(record.source))
  }

  private func connectDue(at now: ContinuousClock.Instant) {
    // Only the daemon knows whether the network may be used.
    guard link.permission?.mayConnect == true else { return }
    for record in records where record.state.isDue(at: now) {
      record.state.beginTry()
      record.source.connect()
    }
  }

  // MARK: Reports

  /// Requests a report.
  ///
  /// Counts change with every message, so reports are limited to one a second.
  private func reportSoon() { isReportDue = true }

  private func report(at now: ContinuousClock.Instant) {
    guard isReportDue, link.isConnected, nextReport <= now else { return }
    isReportDue = false
    nextReport = now + .seconds(1)
    let wall = WallClock.microseconds()
    link.report(records.map { $0.wire(at: now, wall: wall) })
  }

  /// The line that `systemctl status` shows.
  ///
  /// The line contains no times and no counts of messages, because every change wakes the service manager.
  func statusLine(refusedConfiguration: [String]) -> String {
    PushStatusLine.text(
      connected: records.count { $0.state.isConnected }, of: records.count,
      mayConnect: permission?.mayConnect ?? true, daemonProblem: link.problem,
      problems: records.compactMap { record in record.state.problem.map { "\(record.source.name): \($0)" } },
      refusedConfiguration: refusedConfiguration)
  }
}

/// A queue of actions that other threads send to the main thread.
private final class MainQueue: Sendable {
  private let waiting = Mutex<[@MainActor () -> Void]>([])
  /// A descriptor that is readable while actions wait.
  let eventDescriptor: Int32

  /// Throws if the process is out of descriptors.
  init() throws(ServiceError) {
    eventDescriptor = linux_eventfd()
    guard eventDescriptor >= 0 else {
      throw ServiceError(.software, "cannot start: the limit on open files is too low; raise it")
    }
  }

  deinit { close(eventDescriptor) }

  /// Queues an action; the main thread runs actions in order.
  func add(_ action: @escaping @MainActor () -> Void) {
    waiting.withLock { $0.append(action) }
    eventfd_write(eventDescriptor, 1)
  }

  /// Runs the queued actions.
  @MainActor func run() {
    var count: eventfd_t = 0
    eventfd_read(eventDescriptor, &count)
    let actions = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for action in actions { action() }
  }
}
