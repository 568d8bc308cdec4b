import CLinux
import Glibc

/// What the thread of a broker tells the bridge.
enum BrokerNews: Sendable {
  /// The session that it has with the broker now, to be remembered before anything that comes after.
  case session(BrokerSession)
  case connected
  /// Messages that wait for a word in the mailbox; nothing else comes before it.
  case messages([BrokerMessage], of: BrokerSession)
  /// The last news: the thread has ended. The version is the one that the broker speaks, as far as was seen.
  case ended(BrokerEnd, BrokerOptions.Version)
}

/// A connection to a broker and the thread that turns it, from the look-up of the host's name to the end.
///
/// The thread ends after a ``BrokerMailbox/Word/stop``, at once but for one case: libmosquitto looks up and connects
/// blocking, and that goes on for as long as the system tries (about two minutes). Nobody waits for it.
final class BrokerConnection {
  /// How long the broker may take to answer, from the open connection to the subscription.
  private static let patience = Duration.seconds(30)

  private let options: BrokerOptions
  private let mailbox: BrokerMailbox
  private let tell: @Sendable (BrokerNews) -> Void
  private var version: BrokerOptions.Version
  private var session: BrokerSession?
  private var keepAlive: UInt16
  private var isConnecting = true
  private var isAnswered = false
  private var isEstablished = false
  private var deadline = ContinuousClock.now

  private init(
    _ options: BrokerOptions, _ version: BrokerOptions.Version, _ session: BrokerSession?, _ mailbox: BrokerMailbox,
    _ tell: @escaping @Sendable (BrokerNews) -> Void
  ) {
    self.options = options
    self.version = version
    self.session = session
    self.mailbox = mailbox
    self.tell = tell
    keepAlive = options.keepAlive
  }

  /// Starts the thread, which tells its news from there; throws when the process has no thread left.
  ///
  /// - Parameters:
  ///   - version: the one to try; after 5 is refused, or hung up on, 3.1.1 is tried at once.
  ///   - session: what is remembered of the last connection.
  static func start(
    _ options: BrokerOptions, version: BrokerOptions.Version, session: BrokerSession?, mailbox: BrokerMailbox,
    tell: @escaping @Sendable (BrokerNews) -> Void
  ) throws(BrokerEnd) {
    let connection = BrokerConnection(options, version, session, mailbox, tell)
    guard BrokerAttempts.begin(connection.client) else {
      throw .unreachable(
        "cannot connect to \(connection.place): \(BrokerAttempts.most) earlier attempts still wait for it")
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

  private var place: String { "\(options.host):\(options.port)" }
  private var client: String { "\(place) \(options.clientID)" }

  private func run() {
    // Signals belong to the bridge's own thread.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    var end = turn()
    if version == .v5, end.isOfVersion || isHungUpOn(end) {
      let isSaid = isAnswered
      version = .v311
      isAnswered = false
      end = turn()
      // A broker that answers neither is asked for 5 again.
      if !isSaid, !isAnswered { version = .v5 }
    }
    if isHungUpOn(end) {
      end = .unreachable("cannot connect to \(place): it closes the connection without an answer; check port and tls")
    }
    settle()
    tell(.ended(end, version))
  }

  /// It no longer looks up or connects.
  private func settle() {
    guard isConnecting else { return }
    isConnecting = false
    BrokerAttempts.end(client)
  }

  /// Whether the broker closed the connection instead of answering; some do that to a version that they do not know.
  private func isHungUpOn(_ end: BrokerEnd) -> Bool {
    guard !isAnswered, case .closed = end else { return false }
    return true
  }

  private func turn() -> BrokerEnd {
    do throws(BrokerEnd) {
      let mosquitto = try Mosquitto(options, version: version)
      try mosquitto.connect()
      settle()
      deadline = .now + Self.patience
      while true { try turn(mosquitto) }
    } catch {
      return error
    }
  }

  // MARK: One turn

  private func turn(_ mosquitto: Mosquitto) throws(BrokerEnd) {
    if mailbox.take() == .stop {
      if isEstablished { mosquitto.leave() }
      throw .stopped
    }
    if wait(mosquitto) {
      do throws(BrokerEnd) {
        try read(mosquitto)
      } catch {
        // What the broker said before says more, and messages among it come again.
        _ = try take(mosquitto)
        throw error
      }
    }
    let messages = try take(mosquitto)
    if !messages.isEmpty, let session {
      tell(.messages(messages, of: session))
      try waitUntilStored(mosquitto)
      deadline = .now + Self.patience
    }
    // From here on all that was read is stored.
    if mosquitto.wantsToWrite { try mosquitto.write() }
    try mosquitto.keepAlive()
    guard isEstablished || .now < deadline else {
      throw .unreachable("cannot connect to \(place): it does not answer; check port and tls")
    }
  }

  /// Waits for something to read, to write or to end for, or until a ping may be due; whether there is something to read.
  private func wait(_ mosquitto: Mosquitto) -> Bool {
    // A ping is due after `keepAlive`, and the broker goes after half as much again: a quarter is soon enough to look.
    let milliseconds = isEstablished ? max(1000, Int32(keepAlive) * 250) : 1000
    let writing = mosquitto.wantsToWrite ? Int16(POLLOUT) : 0
    var set = [
      pollfd(fd: mosquitto.socket, events: Int16(POLLIN) | writing, revents: 0),
      pollfd(fd: mailbox.bell, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&set, 2, milliseconds) > 0 else { return false }
    return set[0].revents & ~Int16(POLLOUT) != 0
  }

  /// Reads what is there, but no more than is handed over at once.
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

  /// libmosquitto takes the end of a connection in the middle of the handshake of TLS for "not yet", for ever.
  private func endIfClosed(_ socket: Int32) throws(BrokerEnd) {
    var byte: UInt8 = 0
    guard linux_peek_now(socket, &byte, 1) == 0 else { return }
    throw .closed(by: place)
  }

  // MARK: What came

  private func take(_ mosquitto: Mosquitto) throws(BrokerEnd) -> [BrokerMessage] {
    var messages: [BrokerMessage] = []
    for arrival in mosquitto.takeArrivals() {
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
    guard code == 0 else { throw .refused(code: code, by: place) }
    if !isSessionPresent || session == nil {
      var now = timespec()
      clock_gettime(CLOCK_REALTIME, &now)
      let begun = BrokerSession(beganAt: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
      session = begun
      tell(.session(begun))
    }
    for step in session?.steps(toward: options.filter) ?? [] {
      switch step {
      case .subscribe(let filter): try mosquitto.subscribe(to: filter)
      case .unsubscribe(let filter): try mosquitto.unsubscribe(from: filter)
      }
    }
    // The session gives its messages already.
    if session?.filter == options.filter { establish() }
  }

  private func establish() {
    guard !isEstablished else { return }
    isEstablished = true
    if session?.filter != options.filter {
      session?.filter = options.filter
      if let session { tell(.session(session)) }
    }
    tell(.connected)
  }

  /// Waits for the word on what was handed over; nothing is written meanwhile, no ping either, for the acknowledgements
  /// are queued before it.
  private func waitUntilStored(_ mosquitto: Mosquitto) throws(BrokerEnd) {
    while true {
      switch mailbox.take() {
      case .stored: return
      case .notStored: throw .notStored
      case .stop: throw .stopped
      case nil: break
      }
      var set = [
        pollfd(fd: mailbox.bell, events: Int16(POLLIN), revents: 0),
        pollfd(fd: mosquitto.socket, events: linux_poll_closed, revents: 0),
      ]
      // Of a broker that ends it now, because it hears nothing, this is the reason.
      guard poll(&set, 2, -1) > 0, set[1].revents != 0 else { continue }
      throw .notStored
    }
  }
}
