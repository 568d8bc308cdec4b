import CLinux
import Glibc
import RefreshConfig
import Synchronization
import Threads

/// A report of a broker's thread to the bridge.
enum BrokerReport: Sendable {
  /// The session with the broker, which the bridge must store before later reports.
  case session(BrokerSession)
  case connected
  /// The broker refuses some of the topic filters, with the reason code of each.
  case refused([String: UInt8])
  /// Messages that wait for a command in the mailbox. The thread sends no other report before it.
  case messages([BrokerMessage], of: BrokerSession)
  /// The last report: the thread has ended. The version is the one to try next.
  case ended(BrokerEnd, MQTTVersion)
}

/// A connection to a broker with its own thread, from the lookup of the host name to the end.
///
/// The thread ends soon after ``BrokerCommand/stop``. Only a lookup or a connect delays the end, by half a minute
/// at most; the bridge does not wait for that.
final class BrokerConnection {
  /// The timeout of the handshake, from the open connection to the subscription.
  private static let handshakeTimeout = Duration.seconds(30)
  /// The time that a broker has to answer in MQTT 5, because some 3.1.1 brokers do not answer at all.
  private static let answerTimeout = Duration.seconds(10)
  /// The most reads of a pass.
  private static let mostPortions = 32

  private let options: BrokerOptions
  private let mailbox: BrokerMailbox
  private let report: @Sendable (BrokerReport) -> Void
  private var version: MQTTVersion
  /// Whether 3.1.1 is tried if 5 fails.
  private let mayFallBack: Bool
  private var session: BrokerSession?
  private var keepAlive: UInt16
  private var isConnecting = true
  /// Whether a CONNECT was sent, so that the broker is silent and not the network.
  private var hasSpoken = false
  private var isAnswered = false
  private var isEstablished = false
  private var deadline = ContinuousClock.now

  private init(
    _ options: BrokerOptions, _ version: MQTTVersion, _ session: BrokerSession?, _ mailbox: BrokerMailbox,
    _ report: @escaping @Sendable (BrokerReport) -> Void
  ) {
    self.options = options
    self.version = version
    mayFallBack = version == .v5 && options.onlyVersion == nil
    self.session = session
    self.mailbox = mailbox
    self.report = report
    keepAlive = options.keepAlive
  }

  /// Starts the thread, which calls `report` from there.
  ///
  /// The thread tries `version`. If the broker refuses 5, closes the connection or does not answer, the thread tries
  /// 3.1.1 at once, unless push.toml names the version. `session` is the stored session of the last connection.
  ///
  /// Throws if too many earlier attempts still wait for the broker, or if the system cannot start a thread.
  static func start(
    _ options: BrokerOptions, version: MQTTVersion, session: BrokerSession?, mailbox: BrokerMailbox,
    report: @escaping @Sendable (BrokerReport) -> Void
  ) throws(BrokerEnd) {
    let connection = BrokerConnection(options, version, session, mailbox, report)
    let client = connection.client
    guard BrokerAttempts.begin(client) else {
      throw .unreachable(
        "cannot connect to \(connection.address): \(BrokerAttempts.most) earlier attempts still wait for it")
    }
    let code = DetachedThread.begin { connection.run() }
    guard code == 0 else {
      BrokerAttempts.end(client)
      throw .unreachable("cannot start a thread: \(String(cString: strerror(code))); raise the limit on processes")
    }
  }

  private var address: String { "\(options.host):\(options.port)" }
  private var client: String { "\(address) \(options.clientID)" }

  private func run() {
    var end = connectAndServe()
    if mayFallBack, end.isOfVersion || isClosedUnanswered(end) || isSilent(end) {
      let isSaid = isAnswered
      version = .v311
      isAnswered = false
      end = connectAndServe()
      // If the broker answers neither version, the next connection tries 5 again.
      if !isSaid, !isAnswered { version = .v5 }
    }
    if isClosedUnanswered(end) {
      end = .unreachable("cannot connect to \(address): it closes the connection without an answer; check port and tls")
    }
    endAttempt()
    report(.ended(end, version))
  }

  /// Ends the count of this thread's attempt.
  private func endAttempt() {
    guard isConnecting else { return }
    isConnecting = false
    BrokerAttempts.end(client)
  }

  /// Whether the broker closed the connection without an answer, as some do for an unknown version.
  private func isClosedUnanswered(_ end: BrokerEnd) -> Bool {
    guard !isAnswered, case .closed = end else { return false }
    return true
  }

  /// Whether the broker accepted the connection and did not answer.
  private func isSilent(_ end: BrokerEnd) -> Bool {
    guard hasSpoken, !isAnswered, case .silent = end else { return false }
    return true
  }

  private func connectAndServe() -> BrokerEnd {
    do throws(BrokerEnd) {
      let client = try MQTTClient(options, version: version)
      try client.connect()
      endAttempt()
      hasSpoken = true
      deadline = .now + (mayFallBack && version == .v5 ? Self.answerTimeout : Self.handshakeTimeout)
      while true { try pass(client) }
    } catch {
      return error
    }
  }

  // MARK: A pass of the loop

  private func pass(_ client: MQTTClient) throws(BrokerEnd) {
    if mailbox.consume() == .stop {
      if isEstablished { try client.leave() }
      throw .stopped
    }
    if wait(client) {
      do throws(BrokerEnd) {
        try read(client)
      } catch {
        // An earlier packet may explain the error better. Messages before the error will be sent again.
        _ = try receive(client)
        throw error
      }
    }
    let messages = try receive(client)
    if !messages.isEmpty, let session {
      report(.messages(messages, of: session))
      try waitUntilStored(client)
      self.session?.acknowledge(messages)
      deadline = .now + Self.handshakeTimeout
    }
    // Every message read so far is stored.
    client.acknowledge()
    try client.keepAlive(every: keepAlive, isReading: true)
    try client.write()
    guard isEstablished || .now < deadline else { throw .silent(by: address) }
  }

  /// Waits for the socket, the mailbox or the next ping; returns whether the socket is readable.
  private func wait(_ client: MQTTClient) -> Bool {
    // A ping is due after `keepAlive`, and the broker disconnects at 1.5 times that. A check every quarter is enough.
    let milliseconds = isEstablished ? max(1000, Int32(keepAlive) * 250) : 1000
    let reading = client.mayRead ? Int16(POLLIN) : 0
    let writing = client.wantsToWrite ? Int16(POLLOUT) : 0
    var set = [
      pollfd(fd: client.descriptor, events: reading | writing, revents: 0),
      pollfd(fd: mailbox.eventDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let hasMore = client.mayRead && client.hasMore
    guard poll(&set, 2, hasMore ? 0 : milliseconds) > 0 || hasMore else { return false }
    return hasMore || set[0].revents & ~Int16(POLLOUT) != 0
  }

  /// Reads what has arrived, at most about one batch, and no longer than a command may wait.
  private func read(_ client: MQTTClient) throws(BrokerEnd) {
    for _ in 0..<Self.mostPortions where client.waiting < Int(BrokerOptions.receiveMaximum) {
      try client.read()
      guard client.hasMore else { return }
    }
  }

  // MARK: Arrivals

  private func receive(_ client: MQTTClient) throws(BrokerEnd) -> [BrokerMessage] {
    var messages: [BrokerMessage] = []
    for arrival in client.drainArrivals() {
      try checkOrder(arrival)
      switch arrival {
      case .answered(let code, let isSessionPresent, let keepAlive):
        try answered(code, isSessionPresent, client)
        self.keepAlive = keepAlive ?? options.keepAlive
      case .subscribed(let codes): try subscribed(codes)
      case .message(let message): messages.append(message)
      // Lower codes are not errors: the broker closes the connection next.
      case .dismissed(let code): if code >= 0x80 { throw .dismissed(code: code) }
      case .other: break
      }
    }
    return messages
  }

  private func subscribed(_ codes: [UInt8]) throws(BrokerEnd) {
    // mochi answers so while the request's number is in use; a present session has its subscription.
    if isEstablished, codes[0] == MQTTReason.packetNumberInUse { return }
    guard codes.contains(1) else { throw .notSubscribed(code: codes[0]) }
    establish()
    let refused = zip(options.filters, codes).filter { $0.1 != 1 }
    report(.refused(Dictionary(refused) { first, _ in first }))
  }

  /// Refuses packets before the answer to the CONNECT, and a second answer, which would write the session to disk again.
  private func checkOrder(_ arrival: MQTTArrival) throws(BrokerEnd) {
    let isAnswer = if case .answered = arrival { true } else { false }
    guard isAnswer == isAnswered else { return }
    throw .broken(
      isAnswer ? "a second answer to the CONNECT came" : "a packet came before the answer to the CONNECT", by: address)
  }

  private func answered(_ code: UInt8, _ isSessionPresent: Bool, _ client: MQTTClient) throws(BrokerEnd) {
    isAnswered = true
    guard code == 0 else { throw .refused(code: code, by: address) }
    if !isSessionPresent || session == nil {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let begun = BrokerSession(
        beganAt: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000, boot: options.boot)
      session = begun
      report(.session(begun))
    }
    for request in session?.requests(toward: options.filters) ?? [] { client.send(request) }
    // The broker already sends the messages of a present session.
    if session?.filters == options.filters { establish() }
  }

  private func establish() {
    guard !isEstablished else { return }
    isEstablished = true
    if session?.filters != options.filters {
      session?.filters = options.filters
      if let session { report(.session(session)) }
    }
    report(.connected)
  }

  /// Waits until the daemon has stored the messages.
  ///
  /// The thread reads nothing meanwhile, so that no more messages gather. Pings go out, so that the broker waits.
  private func waitUntilStored(_ client: MQTTClient) throws(BrokerEnd) {
    while true {
      switch mailbox.consume() {
      case .stored: return
      case .notStored: throw .notStored
      case .stop: throw .stopped
      case nil: break
      }
      do throws(BrokerEnd) {
        try client.keepAlive(every: keepAlive, isReading: false)
        try client.write()
      } catch {
        throw .interrupted(by: address)
      }
      var set = [
        pollfd(fd: mailbox.eventDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: client.descriptor, events: linux_poll_closed, revents: 0),
      ]
      guard poll(&set, 2, max(1000, Int32(keepAlive) * 250)) > 0, set[1].revents != 0 else { continue }
      throw .interrupted(by: address)
    }
  }
}

/// The number of threads per client that are still resolving or connecting.
///
/// Both steps block, and the bridge abandons an unwanted attempt without waiting for its thread. This
/// count bounds such threads when push.toml is read repeatedly. The bound is above 1 so that a connection on a new
/// network need not wait for attempts on the old one.
enum BrokerAttempts {
  /// The most attempts of a client at a time.
  static let most = 4

  private static let counts = Mutex<[String: Int]>([:])

  /// Counts a new attempt of the client; false at the bound.
  static func begin(_ client: String) -> Bool {
    counts.withLock { counts in
      guard counts[client, default: 0] < most else { return false }
      counts[client, default: 0] += 1
      return true
    }
  }

  /// Counts the end of an attempt.
  static func end(_ client: String) {
    counts.withLock { counts in
      counts[client, default: 0] -= 1
      if counts[client] == 0 { counts[client] = nil }
    }
  }
}

/// A command of the bridge to a broker's thread.
enum BrokerCommand: Hashable, Sendable {
  /// The messages are stored or refused for good: acknowledge them.
  case stored
  /// The messages are not stored: do not acknowledge them.
  case notStored
  /// End the connection, after the acknowledgement of messages that were reported as stored. No later command counts.
  case stop
}

/// The mailbox through which the main thread sends commands to a broker's thread.
final class BrokerMailbox: Sendable {
  /// The waiting command, and whether the last one has come.
  private let command = Mutex<(waiting: BrokerCommand?, isToStop: Bool)>((nil, false))
  /// A descriptor that is readable while a command waits (eventfd(2)).
  let eventDescriptor: Int32

  /// Throws if the process is out of descriptors.
  init() throws(BrokerEnd) {
    eventDescriptor = linux_eventfd()
    guard eventDescriptor >= 0 else {
      throw .unreachable("cannot connect: \(String(cString: strerror(errno))); raise the limit on open files")
    }
  }

  deinit { close(eventDescriptor) }

  /// Posts a command; for the main thread.
  func post(_ posted: BrokerCommand) {
    command.withLock { command in
      guard !command.isToStop else { return }
      if posted == .stop { command.isToStop = true } else { command.waiting = posted }
    }
    eventfd_write(eventDescriptor, 1)
  }

  /// Removes and returns the waiting command; for the broker's thread.
  func consume() -> BrokerCommand? {
    var count: eventfd_t = 0
    eventfd_read(eventDescriptor, &count)
    return command.withLock { command in
      defer { command.waiting = nil }
      return command.waiting ?? (command.isToStop ? .stop : nil)
    }
  }
}
