import HTTP
import RefreshAPI
import RefreshConfig

/// A broker of MQTT: the source that a table `[[mqtt]]` of push.toml describes.
///
/// The connection is turned by a thread of its own (``BrokerConnection``), because libmosquitto connects blocking; what
/// comes is handed to the bridge here, on the main thread, and the thread acknowledges it when it is told to.
@MainActor
final class BrokerSource: Source {
  /// So many connections in a row that the broker closes without a word, each soon: two clients with the same id throw
  /// each other out.
  ///
  /// MQTT 3.1.1 has no word for that, and mosquitto 2.0.11 does not say MQTT 5's.
  private static let silentEndsToBear = 3
  /// Later than this after the connect, another end is no longer one of a row.
  private static let soon = Duration.seconds(600)

  let kind = Wire.SourceKind.mqtt
  private unowned let bridge: Bridge
  private let settings: BrokerSettings
  /// Remembered when a broker refuses MQTT 5, until push.toml is read again.
  private var version = BrokerOptions.Version.v5
  /// The connection that is there or tried; nil while there is none.
  private var current: (mailbox: BrokerMailbox, topics: TopicTemplate)?
  private var connectedAt: ContinuousClock.Instant?
  private var silentEnds = 0
  private var receptions = BrokerReceptions()

  init(_ settings: BrokerSettings, for bridge: Bridge) {
    self.settings = settings
    self.bridge = bridge
  }

  var name: String { settings.name }

  func connect() {
    do throws(BrokerEnd) {
      let topics = TopicTemplate(settings.topic, machine: try BrokerIdentity.machine())
      let options = try options(filter: topics.filter)
      let mailbox = try BrokerMailbox()
      let session = bridge.memory[name].flatMap { BrokerSession($0) }
      try BrokerConnection.start(options, version: version, session: session, mailbox: mailbox) {
        [weak self, bridge] news in bridge.onMain { self?.hear(news, from: mailbox) }
      }
      current = (mailbox, topics)
    } catch {
      bridge.lost(self, why: error.problem ?? "")
    }
  }

  /// The options of push.toml, with what the files that it names say now.
  private func options(filter: String) throws(BrokerEnd) -> BrokerOptions {
    let clientID = if let chosen = settings.clientID { chosen } else { try BrokerIdentity.clientID(of: name) }
    var options = BrokerOptions(
      host: settings.host, port: settings.port, clientID: clientID, filter: filter,
      sessionExpiry: UInt32(settings.sessionExpiry.components.seconds),
      keepAlive: UInt16(settings.keepAlive.components.seconds), maxPacket: UInt32(settings.maxPacket))
    do throws(ExchangeFailure) {
      if let file = settings.credentialFile, case .password(let user, let password) = try bridge.secrets.login(in: file)
      {
        options.login = BrokerOptions.Login(user: user, password: password)
      }
      guard settings.usesTLS else { return options }
      let keyFile = try settings.keyFile.map { (name) throws(ExchangeFailure) in try bridge.secrets.path(of: name) }
      options.tls = BrokerOptions.TLS(
        caFile: settings.caFile, certificateFile: settings.certificateFile, keyFile: keyFile)
      return options
    } catch {
      throw .unreachable(error.message)
    }
  }

  func disconnect() {
    current?.mailbox.say(.stop)
    current = nil
    connectedAt = nil
  }

  // MARK: What the thread says

  private func hear(_ news: BrokerNews, from mailbox: BrokerMailbox) {
    // A thread that was told to end may still have said something.
    guard let current, current.mailbox === mailbox else { return }
    switch news {
    case .session(let session):
      bridge.remember(.after(session.line), of: name)
      // An older session would stand for the numbers of other messages.
      do throws(PushError) { try bridge.memory.settle() } catch { bridge.journal.cannot(error.description) }
    case .connected:
      connectedAt = .now
      bridge.connected(self)
    case .messages(let messages, let session): hand(messages, of: session, current.topics, to: mailbox)
    case .ended(let end, let version):
      self.version = version
      lose(end)
    }
  }

  private func hand(
    _ messages: [BrokerMessage], of session: BrokerSession, _ topics: TopicTemplate, to mailbox: BrokerMailbox
  ) {
    let taken = messages.compactMap { message(of: $0, session, topics) }
    guard !taken.isEmpty else { return mailbox.say(.stored) }
    bridge.take(taken, from: self) { mailbox.say($0.contains(.later) ? .notStored : .stored) }
  }

  /// The message for the daemon; nil for one that is refused here, for ever.
  private func message(of message: BrokerMessage, _ session: BrokerSession, _ topics: TopicTemplate) -> Message? {
    guard let app = topics.app(of: message.topic) else {
      bridge.refuses("its topic is of an earlier subscription", from: self)
      return nil
    }
    // A broker of MQTT 3.1.1 does not know the bound.
    if let size = message.excessiveSize {
      bridge.refuses("it has \(size) bytes, more than is taken", app: app, from: self)
      return nil
    }
    guard let payload = String(validating: message.payload, as: UTF8.self) else {
      bridge.refuses("its payload is not UTF-8", app: app, from: self)
      return nil
    }
    return Message(
      app: app, payload: payload, urgency: message.urgency.flatMap(Self.urgency),
      id: id(of: message, session),
      isNew: !message.isRepeated && !message.isRetained)
  }

  private func id(of message: BrokerMessage, _ session: BrokerSession) -> String? {
    let id = BrokerMessageID.id(of: message, source: name, session: session)
    return message.isRetained ? id : id.map { receptions.id($0, isRepeated: message.isRepeated) }
  }

  /// The urgency of a word such as `very-low`; nil for another, which is as if there were none.
  private static func urgency(_ word: String) -> Wire.Urgency? {
    Wire.Urgency(rawValue: word.replacing("-", with: "_"))
  }

  // MARK: The end of a connection

  private func lose(_ end: BrokerEnd) {
    let lasted = connectedAt.map { ContinuousClock.now - $0 }
    // The broker gives it again, and more often than it could be handed on while nothing is stored.
    bridge.forget(self)
    current = nil
    connectedAt = nil
    if case .closed = end, let lasted {
      silentEnds = lasted < Self.soon ? silentEnds + 1 : 1
    } else if lasted.map({ $0 >= Self.soon }) ?? false {
      silentEnds = 0
    }
    let isThrownOut = end.isTakeover || silentEnds >= Self.silentEndsToBear
    let hint = silentEnds >= Self.silentEndsToBear ? " each time; give every client its own client_id" : ""
    bridge.lost(self, why: (end.problem ?? "") + hint, next: isThrownOut ? .longest : .backOff)
  }
}
