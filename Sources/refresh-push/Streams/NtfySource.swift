import FoundationEssentials
import HTTP
import RefreshAPI
import RefreshConfig

/// An ntfy server: all topics on one connection, as lines of JSON (docs.ntfy.sh/subscribe/api).
///
/// After a reconnect the stream continues a little before the last stored message (``NtfyPosition``), and the daemon
/// recognizes old messages by their ids. A source without a stored message continues from the time of its first
/// connection. A topic that the server does not let be read costs only its own app (``ReadableTopics``).
final class NtfySource: Source {
  /// The most bytes of a line: a message of 4,096 bytes, each of which may be escaped as `\u003c`, and the rest.
  private static let longestLine = 6 * 4096 + (16 << 10)

  let name: String
  let kind = Wire.SourceKind.ntfy
  private let settings: NtfySettings
  private let origin: StreamOrigin
  private unowned let bridge: Bridge
  private let intake: Intake
  private var stream: HTTPStream?
  private var lines = LineBuffer(limit: NtfySource.longestLine)
  private var position = NtfyPosition(nil)
  /// Whether the server has sent an `open` event, as ntfy servers do.
  private var isOpen = false
  /// The search for the topics that the server lets be read; nil while it lets all be read.
  private var search: ReadableTopics?

  init(_ settings: NtfySettings, for bridge: Bridge) {
    (name, self.settings, self.bridge) = (settings.name, settings, bridge)
    origin = StreamOrigin("ntfy", url: settings.url.text)
    intake = Intake(bridge)
    intake.onRoom = { [unowned self] in stream?.resume() }
  }

  func connect() {
    search = nil
    listen(to: settings.topics.keys.sorted())
  }

  private func listen(to topics: [String]) {
    lines = LineBuffer(limit: Self.longestLine)
    isOpen = false
    position = NtfyPosition(origin.position(in: bridge.state[name]))
    intake.beginConnection()
    let since = position.since.map { "?since=\($0)" } ?? ""
    start("\(topics.joined(separator: ","))/json\(since)", isWanted: { $0.status == 200 }) { [unowned self] in end($0) }
  }

  private func start(
    _ path: String, isWanted: @escaping (ResponseHead) -> Bool, onEnd: @escaping (HTTPStream.End) -> Void
  ) {
    do throws(ExchangeFailure) {
      let stream = try HTTPStream(try request(path), in: bridge.loop)
      stream.onHead = isWanted
      stream.onBytes = { [unowned self] in receive($0) }
      stream.onEnd = onEnd
      self.stream = stream
      try stream.start()
    } catch {
      onEnd(.failed(error))
    }
  }

  func disconnect() {
    stream?.cancel()
    stream = nil
  }

  private func request(_ path: String) throws(ExchangeFailure) -> HTTPStream.StreamRequest {
    let server = settings.url.text.hasSuffix("/") ? String(settings.url.text.dropLast()) : settings.url.text
    var request = HTTPStream.StreamRequest(url: "\(server)/\(path)")
    request.caFile = settings.caFile
    request.silence = settings.silence
    request.ownHeaders =
      try settings.credentialFile.map { (file) throws(ExchangeFailure) in
        [try bridge.secrets.authorization(in: file)]
      } ?? []
    return request
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Exchange.BodyUse {
    if intake.isFull { return .paused }
    let passedOver = lines.passedOver
    var items: [Intake.Item] = []
    for line in lines.append(bytes) where !line.isEmpty {
      guard let event = NtfyEvent(line) else {
        guard isOpen else { return .ended }
        bridge.refuses("it cannot be read", from: self)
        continue
      }
      switch event {
      case .open(let time): open(at: time)
      case .message(let message): if let item = item(message) { items.append(item) }
      case .keepAlive:
        position.finishOldOnes()
        items.append(Intake.Item(position: position.since.map(origin.line).map(Intake.Position.after)))
      case .other: break
      }
    }
    for _ in passedOver..<lines.passedOver {
      bridge.refuses("it has more than \(Self.longestLine >> 10) KiB", from: self)
    }
    intake.add(items, from: self)
    return .taken
  }

  private func open(at time: Int64) {
    guard !isOpen else { return }
    isOpen = true
    position.open(at: time)
    if origin.position(in: bridge.state[name]) == nil, let since = position.since {
      bridge.remember(.after(origin.line(since)), of: name)
    }
    bridge.connected(self)
    bridge.isLimited(self, by: search.map { problem(with: $0.unreadable) })
  }

  // MARK: Topics that must not be read

  /// Asks whether the next list of topics may be read, and listens to what may be read at the end.
  private func look(_ refusal: HTTPStream.End) {
    guard let search else { return }
    guard let list = search.next else {
      return search.readable.isEmpty ? lose(refusal) : listen(to: search.readable)
    }
    // The endpoint of ntfy's apps; the answer's status is enough.
    start("\(list.joined(separator: ","))/auth", isWanted: { _ in false }) { [unowned self] end in
      stream = nil
      guard let status = end.status, status == 200 || status == 403 else { return lose(refusal) }
      self.search?.answer(isReadable: status == 200)
      look(refusal)
    }
  }

  private func problem(with topics: [String]) -> String {
    let apps = Set(topics.compactMap { settings.topics[$0] }).sorted().listed
    return "the server does not let the topics of some apps be read: HTTP status 403 for \(apps); "
      + "correct the rights there, or the credential_file"
  }

  private func item(_ message: NtfyMessage) -> Intake.Item? {
    // A message of a topic that was not requested is a server's mistake.
    guard let app = settings.topics[message.topic] else { return nil }
    position.append(message.time)
    let position = position.since.map(origin.line).map(Intake.Position.after)
    switch message.body {
    case .text(let payload):
      return Intake.Item(
        message: Message(
          app: app, payload: payload, urgency: message.urgency, id: id(of: message, payload)),
        position: position)
    case .refused(let reason):
      bridge.refuses(reason, app: app, from: self)
      return Intake.Item(position: position)
    }
  }

  private func end(_ end: HTTPStream.End) {
    stream = nil
    if end.status == 403, search == nil, settings.topics.count > 1 {
      search = ReadableTopics(among: settings.topics.keys.sorted())
      return look(end)
    }
    lose(end)
  }

  private func lose(_ end: HTTPStream.End) {
    if case .closed = end, !isOpen {
      // Usually this is the login page of a network.
      bridge.lost(self, why: "the server there is no ntfy server; correct the url, or log in to the network")
    } else {
      bridge.lost(self, why: end.loss.why, next: end.loss.next)
    }
  }

  /// The id by which the daemon recognizes the message when it comes again.
  private func id(of message: NtfyMessage, _ payload: String) -> String? {
    if (1...64).contains(message.id.utf8.count), message.id.utf8.allSatisfy(Self.isOfID) {
      return "ntfy/\(name)/\(message.id)"
    }
    let digest = Digest.digits(64, of: "\(message.id) \(message.time) \(message.topic) \(payload)".utf8)
    return digest.map { "ntfy/\(name)/\($0)" }
  }

  private static func isOfID(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension Secrets {
  /// The header field that authorizes with a file that has a token or `user:password`.
  ///
  /// The first request needs the field, because ntfy answers an anonymous request with 403, not with a challenge.
  func authorization(in file: String) throws(ExchangeFailure) -> String {
    if let token = try token(in: file) { return "Authorization: Bearer \(token)" }
    guard case .password(let name, let password) = try login(in: file) else { return "" }
    return "Authorization: Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"
  }
}
