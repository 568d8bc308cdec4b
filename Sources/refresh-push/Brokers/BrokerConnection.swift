import CLinux
import Glibc

/// A report of a broker's thread to the bridge.
enum BrokerReport: Sendable {
  /// The session with the broker, which the bridge must store before later reports.
  case session(BrokerSession)
  case connected
  /// Messages that wait for a command in the mailbox. The thread sends no other report before it.
  case messages([BrokerMessage], of: BrokerSession)
  /// The last report: the thread has ended. The version is the one to try next.
  case ended(BrokerEnd, BrokerOptions.Version)
}

/// A connection to a broker with its own thread, from the lookup of the host name to the end.
///
/// The thread ends soon after ``BrokerMailbox/Command/stop``. Only a lookup or connect in libmosquitto delays the end,
/// up to the system's timeout of about two minutes; the bridge does not wait for that.
final class BrokerConnection {
  /// The timeout of the handshake, from the open connection to the subscription.
  private static let handshakeTimeout = Duration.seconds(30)

  private let options: BrokerOptions
  private let mailbox: BrokerMailbox
  private let report: @Sendable (BrokerReport) -> Void
  private var version: BrokerOptions.Version
  private var session: BrokerSession?
  private var keepAlive: UInt16
  private var isConnecting = true
  private var isAnswered = false
  private var isEstablished = false
  private var deadline = ContinuousClock.now

  private init(
    _ options: BrokerOptions, _ version: BrokerOptions.Version, _ session: BrokerSession?, _ mailbox: BrokerMailbox,
    _ report: @escaping @Sendable (BrokerReport) -> Void
  ) {
    self.options = options
    self.version = version
    self.session = session
    self.mailbox = mailbox
    self.report = report
    keepAlive = options.keepAlive
  }

  /// Starts the thread, which calls `report` from there; throws if the process is out of threads.
  ///
  /// - Parameters:
  ///   - version: the version to try. If the broker refuses 5 or closes the connection, the thread tries 3.1.1 at once.
  ///   - session: the stored session of the last connection.
  static func start(
    _ options: BrokerOptions, version: BrokerOptions.Version, session: BrokerSession?, mailbox: BrokerMailbox,
    report: @escaping @Sendable (BrokerReport) -> Void
  ) throws(BrokerEnd) {
    let connection = BrokerConnection(options, version, session, mailbox, report)
    guard BrokerAttempts.begin(connection.client) else {
      throw .unreachable(
        "cannot connect to \(connection.address): \(BrokerAttempts.most) earlier attempts still wait for it")
    }
    let retained = Unmanaged.passRetained(connection)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<BrokerConnection>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, retained.toOpaque())
    guard result == 0 else {
      retained.release()
      BrokerAttempts.end(connection.client)
      throw .unreachable("cannot start a thread: \(String(cString: strerror(result))); raise the limit on processes")
    }
    pthread_detach(thread)
  }

  private var address: String { "\(options.host):\(options.port)" }
  private var client: String { "\(address) \(options.clientID)" }

  private func run() {
    // Only the main thread handles signals.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    var end = turn()
    if version == .v5, end.isOfVersion || isClosedUnanswered(end) {
      let isSaid = isAnswered
      version = .v311
      isAnswered = false
      end = turn()
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

  private func turn() -> BrokerEnd {
    do throws(BrokerEnd) {
      let mosquitto = try Mosquitto(options, version: version)
      try mosquitto.connect()
      endAttempt()
      deadline = .now + Self.handshakeTimeout
      while true { try turn(mosquitto) }
    } catch {
      return error
    }
  }

  // MARK: A turn of the loop

  private func turn(_ mosquitto: Mosquitto) throws(BrokerEnd) {
    if mailbox.consume() == .stop {
      if isEstablished { mosquitto.leave() }
      throw .stopped
    }
    if wait(mosquitto) {
      do throws(BrokerEnd) {
        try read(mosquitto)
      } catch {
        // An earlier packet may explain the error better. Messages before the error will be sent again.
        _ = try receive(mosquitto)
        throw error
      }
    }
    let messages = try receive(mosquitto)
    if !messages.isEmpty, let session {
      report(.messages(messages, of: session))
      try waitUntilStored(mosquitto)
      deadline = .now + Self.handshakeTimeout
    }
    // Every message read so far is stored, so acknowledgements may go out.
    if mosquitto.wantsToWrite { try mosquitto.write() }
    try mosquitto.keepAlive()
    guard isEstablished || .now < deadline else {
      throw .unreachable("cannot connect to \(address): it does not answer; check port and tls")
    }
  }

  /// Waits for the socket, the mailbox or the next ping; returns whether the socket is readable.
  private func wait(_ mosquitto: Mosquitto) -> Bool {
    // A ping is due after `keepAlive`, and the broker disconnects at 1.5 times that. A check every quarter is enough.
    let milliseconds = isEstablished ? max(1000, Int32(keepAlive) * 250) : 1000
    let writing = mosquitto.wantsToWrite ? Int16(POLLOUT) : 0
    var set = [
      pollfd(fd: mosquitto.socket, events: Int16(POLLIN) | writing, revents: 0),
      pollfd(fd: mailbox.eventDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&set, 2, milliseconds) > 0 else { return false }
    return set[0].revents & ~Int16(POLLOUT) != 0
  }

  /// Reads the available packets, at most one batch.
  private func read(_ mosquitto: Mosquitto) throws(BrokerEnd) {
    var packets = 0
    repeat {
      if !isAnswered { try endIfClosed(mosquitto.socket) }
      try mosquitto.read()
      packets += 1
    } while mosquitto.socket >= 0 && packets < Int(BrokerOptions.receiveMaximum) && isReadable(mosquitto.socket)
  }

  private func isReadable(_ socket: Int32) -> Bool {
    var set = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&set, 1, 0) > 0
  }

  /// Detects a connection that ended during the TLS handshake, which libmosquitto 2.0.11 mistakes for a slow one.
  private func endIfClosed(_ socket: Int32) throws(BrokerEnd) {
    var byte: UInt8 = 0
    guard linux_peek_now(socket, &byte, 1) == 0 else { return }
    throw .closed(by: address)
  }

  // MARK: Arrivals

  private func receive(_ mosquitto: Mosquitto) throws(BrokerEnd) -> [BrokerMessage] {
    var messages: [BrokerMessage] = []
    for arrival in mosquitto.drainArrivals() {
      switch arrival {
      case .answered(let code, let isSessionPresent, let keepAlive):
        try answered(code, isSessionPresent, mosquitto)
        self.keepAlive = keepAlive ?? options.keepAlive
      case .subscribed(let code):
        guard code == 1 else { throw .notSubscribed(code: code) }
        establish()
      case .message(let message): messages.append(message)
      case .dismissed(let code): throw .dismissed(code: code)
      }
    }
    return messages
  }

  private func answered(_ code: Int32, _ isSessionPresent: Bool, _ mosquitto: Mosquitto) throws(BrokerEnd) {
    isAnswered = true
    guard code == 0 else { throw .refused(code: code, by: address) }
    if !isSessionPresent || session == nil {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let begun = BrokerSession(beganAt: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
      session = begun
      report(.session(begun))
    }
    for step in session?.steps(toward: options.filter) ?? [] {
      switch step {
      case .subscribe(let filter): try mosquitto.subscribe(to: filter)
      case .unsubscribe(let filter): try mosquitto.unsubscribe(from: filter)
      }
    }
    // The broker already sends the messages of a present session.
    if session?.filter == options.filter { establish() }
  }

  private func establish() {
    guard !isEstablished else { return }
    isEstablished = true
    if session?.filter != options.filter {
      session?.filter = options.filter
      if let session { report(.session(session)) }
    }
    report(.connected)
  }

  /// Waits until the daemon has stored the messages.
  ///
  /// The thread writes nothing meanwhile, not even a ping, because the acknowledgements are ahead of it in the queue.
  private func waitUntilStored(_ mosquitto: Mosquitto) throws(BrokerEnd) {
    while true {
      switch mailbox.consume() {
      case .stored: return
      case .notStored: throw .notStored
      case .stop: throw .stopped
      case nil: break
      }
      var set = [
        pollfd(fd: mailbox.eventDescriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: mosquitto.socket, events: linux_poll_closed, revents: 0),
      ]
      // The broker may close the connection because of the missing acknowledgements and pings.
      guard poll(&set, 2, -1) > 0, set[1].revents != 0 else { continue }
      throw .notStored
    }
  }
}
