import HTTP
import RefreshAPI
import RefreshConfig

/// An ntfy server: all topics on one connection, as lines of JSON (docs.ntfy.sh/subscribe/api).
///
/// After a reconnect the stream continues a little before the last stored message (``NtfyPosition``), and the daemon
/// recognizes old messages by their ids. A source without a stored message continues from the time of its first
/// connection. If the server refuses access to a topic, only the app of that topic is affected (``ReadableTopics``).
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
  /// The search for the topics that the server allows; nil while it allows all of them.
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

  private func request(_ path: String) throws(ExchangeFailure) -> HTTPStream.Request {
    let server = settings.url.text.hasSuffix("/") ? String(settings.url.text.dropLast()) : settings.url.text
    var request = HTTPStream.Request(url: "\(server)/\(path)")
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
    return .consumed
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

  // MARK: Topics that the server refuses

  /// Asks whether the server allows the next list of topics; at the end, listens to all allowed topics.
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
    return "the server refuses access to the topics of some apps: HTTP status 403 for \(apps); "
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
      bridge.lost(self, why: "the server is not an ntfy server; correct the url, or log in to the network")
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

/// The time from which the next connection to an ntfy server continues (`since=`), in seconds since 1970.
///
/// `since=` with the id of a message would lose messages, because the server reads it as an order of arrival. A scheduled
/// message arrives long before it is sent, and messages of the same second are sent in any order. So the bridge asks by
/// time, and goes back a little. The daemon recognizes the ids of repeated messages; it knows the last 1,000 of each app.
///
/// A server sends old messages in the order of their times, and new messages between them. It sends a keep-alive only after
/// all old messages. Before the keep-alive, the newest time alone does not show which old messages have arrived.
struct NtfyPosition: Hashable {
  /// How far the next connection goes back, because a server sends a scheduled message up to 10 s late, or later if it was
  /// off when the message was due.
  static let slack: Int64 = 600
  /// The most messages that the next connection repeats, besides those of the same second.
  private static let mostRepeated = 256

  /// The stored position: a time, or the id of a message from an earlier version of the bridge; nil for none.
  private let stored: String?
  /// The time of the position; nil while it is not a time.
  private var floor: Int64?
  /// The times of the last messages of this connection.
  private var times: [Int64] = []
  private var newest: Int64 = 0
  private var hasOldOnes = false

  /// Starts a connection at the stored position.
  init(_ stored: String?) {
    self.stored = stored
    floor = stored.flatMap { Int64($0) }
  }

  /// The value for `since=`; nil without a position, when the server sends only new messages.
  var since: String? { floor.map(String.init) ?? stored }

  /// Updates the position at the beginning of the stream, by the server's time.
  mutating func open(at time: Int64) {
    newest = max(newest, time)
    // Messages from before the first connection are not delivered.
    if stored == nil, floor == nil, time > 0 { floor = time }
    // The server's clock was ahead, so the position is in the future, and the server would send nothing.
    if let floor, time > 0, floor > time { self.floor = time - Self.slack }
  }

  /// Updates the position for an arrived message, by its time.
  mutating func append(_ time: Int64) {
    guard time > 0 else { return }
    newest = max(newest, time)
    times.append(time)
    if times.count > Self.mostRepeated { times.removeFirst() }
    move()
  }

  /// Updates the position at a keep-alive: all old messages have arrived.
  mutating func finishOldOnes() {
    hasOldOnes = true
    move()
  }

  private mutating func move() {
    var next = floor ?? 0
    if times.count == Self.mostRepeated, let oldest = times.min() { next = max(next, oldest) }
    if hasOldOnes { next = max(next, newest - Self.slack) }
    if next > 0 { floor = next }
  }
}

/// The search for the topics that an ntfy server allows, after it has refused a request for all of them.
///
/// The server answers for a list of topics, so the search asks for halves, then for halves of what is refused. A server
/// limits requests (60 at once by default), so the search does too: what is left then counts as refused.
struct ReadableTopics: Hashable, Sendable {
  /// The most requests of a search: enough to check each of 16 topics, or to find one among 100.
  static let mostRequests = 32

  private(set) var readable: [String] = []
  private var refused: [String] = []
  /// The lists to ask for, the longest first.
  private var lists: [[String]] = []
  private var requests = 0

  /// Starts a search among topics that were refused together.
  init(among topics: [String]) { split(topics) }

  /// The topics that the server refuses, or whose check is still pending.
  var unreadable: [String] { refused + lists.flatMap(\.self) }

  /// The next list to ask for; nil at the end.
  var next: [String]? { requests < Self.mostRequests ? lists.first : nil }

  /// Applies the answer for the next list.
  mutating func answer(isReadable: Bool) {
    guard !lists.isEmpty else { return }
    requests += 1
    let list = lists.removeFirst()
    if isReadable { readable += list } else { split(list) }
  }

  private mutating func split(_ list: [String]) {
    let half = list.count / 2
    if half == 0 { refused += list } else { lists += [Array(list[..<half]), Array(list[half...])] }
  }
}
