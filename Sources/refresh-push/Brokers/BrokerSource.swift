import HTTP
import RefreshAPI
import RefreshConfig

/// An MQTT broker: the source of a table `[[mqtt]]` in push.toml.
///
/// A ``BrokerConnection`` has a thread of its own, because a connect blocks. This class hands
/// its messages over to the bridge on the main thread, and then lets the thread acknowledge them.
@MainActor
final class BrokerSource: Source {
  /// The number of short connections in a row, closed without a reason, that shows two clients with the same id.
  ///
  /// MQTT 3.1.1 has no reason code for a takeover, and mosquitto 2.0.11 does not send the code of MQTT 5.
  private static let mostSilentEnds = 3
  /// The longest duration of a short connection.
  private static let soon = Duration.seconds(600)

  let kind = Wire.SourceKind.mqtt
  private unowned let bridge: Bridge
  private let settings: BrokerSettings
  /// The version that the broker speaks, kept until push.toml is read again.
  private var version: MQTTVersion
  /// The present connection or attempt; nil for none.
  private var current: (mailbox: BrokerMailbox, topics: BrokerTopics)?
  private var connectedAt: ContinuousClock.Instant?
  private var silentEnds = 0

  init(_ settings: BrokerSettings, for bridge: Bridge) {
    self.settings = settings
    self.bridge = bridge
    version = settings.version ?? .v5
  }

  var name: String { settings.name }

  func connect() {
    do throws(BrokerEnd) {
      let topics = BrokerTopics(settings.topic, apps: settings.topics, machine: try BrokerIdentity.machine())
      let options = try options(filters: topics.filters)
      let mailbox = try BrokerMailbox()
      let session = bridge.state[name].flatMap { BrokerSession($0, boot: options.boot) }
      try BrokerConnection.start(options, version: version, session: session, mailbox: mailbox) {
        [weak self, bridge] report in bridge.onMain { self?.receive(report, from: mailbox) }
      }
      current = (mailbox, topics)
    } catch {
      bridge.lost(self, why: error.problem ?? "")
    }
  }

  /// The options from push.toml and the present content of its secret files.
  private func options(filters: [String]) throws(BrokerEnd) -> BrokerOptions {
    let clientID = if let chosen = settings.clientID { chosen } else { try BrokerIdentity.clientID(of: name) }
    var options = BrokerOptions(
      onlyVersion: settings.version, host: settings.host, port: settings.port, clientID: clientID, filters: filters,
      boot: try BrokerIdentity.boot(),
      sessionExpiry: UInt32(settings.sessionExpiry.components.seconds),
      keepAlive: UInt16(settings.keepAlive.components.seconds), maxPacket: UInt32(settings.maxPacket))
    do throws(ExchangeFailure) {
      if let file = settings.credentialFile, case .password(let user, let password) = try bridge.secrets.login(in: file)
      {
        guard [user, password].allSatisfy({ $0.utf8.count <= MQTTRequest.longestText }) else {
          throw ExchangeFailure(kind: .permanent, message: "cannot use \(file): the line is too long for MQTT")
        }
        options.login = BrokerOptions.Login(user: user, password: password)
      }
      guard settings.usesTLS else { return options }
      let keyFile = try settings.keyFile.map { (name) throws(ExchangeFailure) in try bridge.secrets.path(of: name) }
      options.tls = RawConnection.TLS(
        caFile: settings.caFile, certificateFile: settings.certificateFile, keyFile: keyFile)
      return options
    } catch {
      throw .unreachable(error.message)
    }
  }

  func disconnect() {
    current?.mailbox.post(.stop)
    current = nil
    connectedAt = nil
  }

  // MARK: Reports of the thread

  private func receive(_ report: BrokerReport, from mailbox: BrokerMailbox) {
    // A stopped thread may have sent a last report.
    guard let current, current.mailbox === mailbox else { return }
    switch report {
    case .session(let session):
      bridge.remember(.after(session.text), of: name)
      // After a loss of power an older session would reuse the ids of other messages.
      do throws(ServiceError) { try bridge.state.sync() } catch { bridge.journal.cannot(error.description) }
    case .connected:
      connectedAt = .now
      bridge.connected(self)
    case .refused(let codes): bridge.isLimited(self, by: Self.problem(codes, current.topics))
    case .messages(let messages, let session): handOver(messages, of: session, current.topics, to: mailbox)
    case .ended(let end, let version):
      self.version = version
      lose(end)
    }
  }

  private func handOver(
    _ messages: [BrokerMessage], of session: BrokerSession, _ topics: BrokerTopics, to mailbox: BrokerMailbox
  ) {
    let accepted = messages.compactMap { message(of: $0, session, topics) }
    var next = session
    next.acknowledge(messages)
    guard !accepted.isEmpty else { return acknowledge(next, mailbox) }
    bridge.receive(accepted, from: self) { [weak self] fates in
      guard !fates.contains(.undelivered) else { return mailbox.post(.notStored) }
      self?.acknowledge(next, mailbox)
    }
  }

  /// Lets the thread acknowledge its messages, after the state directory has the next epoch.
  ///
  /// In the other order, a bridge that is killed in between would take a new message with the same number and content
  /// for a known one. A closed connection acknowledges nothing, so its epoch continues.
  private func acknowledge(_ next: BrokerSession, _ mailbox: BrokerMailbox) {
    guard current?.mailbox === mailbox else { return }
    bridge.remember(.after(next.text), of: name)
    mailbox.post(.stored)
  }

  /// The message for the daemon; nil if the source refuses it for good.
  private func message(of message: BrokerMessage, _ session: BrokerSession, _ topics: BrokerTopics) -> Message? {
    if message.hasLongTopic {
      bridge.refuses("its topic is longer than max_packet", from: self)
      return nil
    }
    guard let app = topics.app(of: message.topic) else {
      bridge.refuses(
        "no app has its topic; it belongs to an earlier subscription, or the broker changes topics", from: self)
      return nil
    }
    // The broker does not know the bound, or does not obey it.
    if let size = message.excessiveSize {
      bridge.refuses("it has \(size) bytes, more than is accepted", app: app, from: self)
      return nil
    }
    guard let payload = String(validating: message.payload, as: UTF8.self) else {
      bridge.refuses("its payload is not UTF-8", app: app, from: self)
      return nil
    }
    return Message(
      app: app, payload: payload, urgency: message.urgency.flatMap(Self.urgency),
      id: BrokerMessageID.id(of: message, source: name, session: session),
      isNew: !message.isRepeated && !message.isRetained)
  }

  /// The problem if the broker refuses some of the topics; nil if it refuses none.
  private static func problem(_ codes: [String: UInt8], _ topics: BrokerTopics) -> String? {
    guard let code = codes.min(by: { $0.key < $1.key })?.value else { return nil }
    let apps = codes.keys.map { $0.contains("+") ? "all other apps" : topics.app(of: $0) ?? "an app" }
    return BrokerEnd.denial(code, of: apps.sorted().listed)
  }

  /// The urgency of a text such as `very-low`; nil for an unknown one.
  private static func urgency(_ word: String) -> Wire.Urgency? {
    Wire.Urgency(rawValue: String(word.map { $0 == "-" ? "_" : $0 }))
  }

  // MARK: The end of a connection

  private func lose(_ end: BrokerEnd) {
    let lasted = connectedAt.map { ContinuousClock.now - $0 }
    // The broker repeats unacknowledged messages at every connection, so queued copies are useless.
    bridge.forget(self)
    current = nil
    connectedAt = nil
    if case .closed = end, let lasted {
      silentEnds = lasted < Self.soon ? silentEnds + 1 : 1
    } else if lasted.map({ $0 >= Self.soon }) ?? false {
      silentEnds = 0
    }
    let isThrownOut = end.isTakeover || silentEnds >= Self.mostSilentEnds
    let hint = silentEnds >= Self.mostSilentEnds ? " each time; give every client its own client_id" : ""
    bridge.lost(self, why: (end.problem ?? "") + hint, next: isThrownOut ? .longest : .backOff)
  }
}

/// The topics of the apps' messages: a template with the app's id as one of its levels, and a table.
struct BrokerTopics: Hashable, Sendable {
  /// The levels of the template, nil for the level with the app's id; empty without a template.
  private let levels: [String?]
  /// The app of each topic of the table.
  private let apps: [String: String]
  /// The same with a slash for each dot, because RabbitMQ takes dots for slashes.
  private let appsWithoutDots: [String: String]
  /// The filters that match these topics.
  let filters: [String]

  /// Reads a template such as `refreshd/{machine}/{app}`, and a table of the apps of topics.
  ///
  /// RefreshConfig has checked that `{app}` is one of the template's levels.
  init(_ template: String?, apps table: [String: String] = [:], machine: String) {
    func filled(_ text: some StringProtocol) -> String {
      BrokerSettings.replace(BrokerSettings.machine, in: text, with: machine)
    }
    levels = (template?.split(separator: "/", omittingEmptySubsequences: false) ?? []).map {
      $0 == BrokerSettings.app ? nil : filled($0)
    }
    apps = Dictionary(table.map { (filled($0.key), $0.value) }) { first, _ in first }
    appsWithoutDots = Dictionary(apps.map { (Self.withoutDots($0.key), $0.value) }) { first, _ in first }
    filters = (levels.isEmpty ? [] : [levels.map { $0 ?? "+" }.joined(separator: "/")]) + apps.keys.sorted()
  }

  /// The app of a topic; nil if no app has it.
  func app(of topic: String) -> String? {
    apps[topic] ?? app(byTemplate: topic) ?? appsWithoutDots[Self.withoutDots(topic)]
  }

  private func app(byTemplate topic: String) -> String? {
    let words = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard words.count == levels.count else { return nil }
    var app: String?
    for (word, level) in zip(words, levels) {
      if level == nil {
        app = String(word)
      } else if level != String(word) {
        return nil
      }
    }
    return app
  }

  private static func withoutDots(_ topic: String) -> String { String(topic.map { $0 == "." ? "/" : $0 }) }
}
