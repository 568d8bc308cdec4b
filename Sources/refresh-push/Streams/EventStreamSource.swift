import HTTP
import RefreshAPI
import RefreshConfig

/// A stream of server-sent events, all of them for one app (WHATWG HTML, section 9.2).
///
/// After a reconnect the stream continues behind the last stored event, by `Last-Event-ID`.
final class EventStreamSource: Source {
  /// The most bytes of a stored id.
  private static let longestID = 1024

  let name: String
  let kind = Wire.SourceKind.sse
  private let settings: EventStreamSettings
  private let origin: StreamOrigin
  private unowned let bridge: Bridge
  private let intake: Intake
  private var stream: HTTPStream?
  private var parser = EventStreamParser()
  /// The time to wait before a reconnect, if the server has ever set one.
  private var retry: Duration?

  init(_ settings: EventStreamSettings, for bridge: Bridge) {
    (name, self.settings, self.bridge) = (settings.name, settings, bridge)
    origin = StreamOrigin("sse", url: settings.url.text)
    intake = Intake(bridge)
    intake.onRoom = { [unowned self] in stream?.resume() }
  }

  /// The id of the last stored event of this server.
  private var lastID: String? { origin.position(in: bridge.state[name]) }

  func connect() {
    parser = EventStreamParser(lastID: lastID ?? "")
    intake.beginConnection()
    do throws(ExchangeFailure) {
      let stream = try HTTPStream(try request(), in: bridge.loop)
      stream.onHead = { [unowned self] in receiveHead($0) }
      stream.onBytes = { [unowned self] in receive($0) }
      stream.onEnd = { [unowned self] in end($0) }
      self.stream = stream
      try stream.start()
    } catch {
      end(.failed(error))
    }
  }

  func disconnect() {
    stream?.cancel()
    stream = nil
  }

  private func request() throws(ExchangeFailure) -> HTTPStream.StreamRequest {
    var request = HTTPStream.StreamRequest(url: settings.url.text)
    request.headers = ["Accept: text/event-stream", "Cache-Control: no-store"]
    if let id = lastID { request.headers.append("Last-Event-ID: \(id)") }
    request.caFile = settings.caFile
    request.silence = settings.silence
    if let file = settings.headersFile { request.ownHeaders = try bridge.secrets.headers(in: file) }
    if let file = settings.credentialFile { request.ownHeaders.append(try bridge.secrets.authorization(in: file)) }
    return request
  }

  private func receiveHead(_ head: ResponseHead) -> Bool {
    guard head.status == 200, head.isEventStream else { return false }
    bridge.connected(self)
    return true
  }

  private func receive(_ bytes: UnsafeRawBufferPointer) -> Exchange.BodyUse {
    if intake.isFull { return .paused }
    let passedOver = parser.passedOver
    let events = parser.append(bytes)
    retry = parser.retry ?? retry
    for _ in passedOver..<parser.passedOver {
      bridge.refuses("it has more than \(EventStreamParser.limit >> 10) KiB", app: settings.app, from: self)
    }
    intake.add(events.map(item), from: self)
    return .taken
  }

  private func item(_ event: EventStreamParser.StreamEvent) -> Intake.Item {
    // The id goes back to the server in a header field, and servers refuse large ones.
    let position: Intake.Position? = event.id.flatMap { id in
      id.utf8.count > Self.longestID ? nil : id.isEmpty ? .anywhere : .after(origin.line(id))
    }
    // An event without data only sets the id. Events of other types are not for this app.
    guard !event.data.isEmpty, event.type == settings.event else { return Intake.Item(position: position) }
    // Only an id of the event itself identifies the message.
    let id = position == nil || position == .anywhere ? nil : event.id.flatMap { messageID($0, event.data) }
    return Intake.Item(message: Message(app: settings.app, payload: event.data, id: id), position: position)
  }

  /// The id by which the daemon recognizes the event when it comes again.
  ///
  /// It contains a digest of the data, because many servers count from 1 again after a restart. An id that is too long for
  /// the daemon is a part of the digest.
  private func messageID(_ id: String, _ data: some StringProtocol) -> String? {
    let isLong = id.utf8.count > 128
    let digest = Digest.digits(32, of: Array(id.utf8) + [0] + Array(data.utf8))
    return digest.map { isLong ? "sse/\(name)/\($0)" : "sse/\(name)/\(id)/\($0)" }
  }

  private func end(_ end: HTTPStream.End) {
    stream = nil
    let loss = loss(end)
    bridge.lost(self, why: loss.why, next: loss.next)
  }

  private func loss(_ end: HTTPStream.End) -> (why: String, next: NextTry) {
    // Many servers end each stream after a time, and name the time to come back.
    if case .closed = end, let pause = parser.retry { return (end.loss.why, .asPlanned(pause)) }
    return switch end {
    case .refused(let head, _) where head.status == 204:
      ("the server has nothing more to say: HTTP status 204", .never)
    case .refused(let head, let host) where head.status == 200 && head.encoding == nil:
      ("the server at \(host) sends no event stream; correct the url, or log in to the network", .backOff)
    case .closed, .failed:
      // The server's own time overrides shorter waits of the back-off.
      (end.loss.why, end.loss.next == .backOff ? retry.map(NextTry.notBefore) ?? .backOff : end.loss.next)
    case .refused: end.loss
    }
  }
}

extension ResponseHead {
  /// Whether the body is an event stream.
  fileprivate var isEventStream: Bool {
    let type = self["content-type"]?.prefix { $0 != ";" } ?? ""
    return type.lowercased().filter { $0 != " " } == "text/event-stream"
  }
}
