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

  private func request() throws(ExchangeFailure) -> HTTPStream.Request {
    var request = HTTPStream.Request(url: settings.url.text)
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
    return .consumed
  }

  private func item(_ event: EventStreamParser.Event) -> Intake.Item {
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
      ("the server has ended the stream: HTTP status 204", .never)
    case .refused(let head, let host) where head.status == 200 && head.encoding == nil:
      ("the server at \(host) does not send an event stream; correct the url, or log in to the network", .backOff)
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

/// A parser of server-sent events (WHATWG HTML, section 9.2.6), with bounds.
///
/// The caller appends bytes, split anywhere, and gets events. An event with a line or with data above the limit is
/// skipped and counted.
struct EventStreamParser: Hashable, Sendable {
  struct Event: Hashable, Sendable {
    /// The type; `message` by default.
    var type: String
    /// The data; empty for an event that only sets an id.
    var data: String
    /// The id of this event; nil if it has none.
    var id: String?
    /// The last id of the stream up to this event; empty for none.
    var lastID: String
  }

  /// The most bytes of a line, and of the data of one event.
  static let limit = 16 << 10

  /// The time to wait before a reconnect, if the server has set one.
  private(set) var retry: Duration?
  /// The number of skipped events.
  private(set) var passedOver = 0

  private var line: [UInt8] = []
  private var isAfterCarriageReturn = false
  /// The number of bytes of a leading byte order mark so far; nil after the start of the stream.
  private var markBytes: Int? = 0
  private var isTooLong = false

  private var type = ""
  private var data: [UInt8] = []
  private var hasData = false
  private var id: String?
  private var lastID: String

  /// Starts a stream that continues after the event with this id; empty for none.
  init(lastID: String = "") { self.lastID = lastID }

  /// Appends bytes, and returns the events that they complete.
  mutating func append(_ bytes: some Sequence<UInt8>) -> [Event] {
    var events: [Event] = []
    for byte in bytes where !isOfMark(byte) {
      switch byte {
      case UInt8(ascii: "\n") where isAfterCarriageReturn:
        isAfterCarriageReturn = false
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        isAfterCarriageReturn = byte == UInt8(ascii: "\r")
        if let event = finishLine() { events.append(event) }
      default:
        isAfterCarriageReturn = false
        if line.count < Self.limit { line.append(byte) } else { isTooLong = true }
      }
    }
    return events
  }

  /// Whether a byte belongs to a leading byte order mark, which is not part of a line.
  private mutating func isOfMark(_ byte: UInt8) -> Bool {
    guard let count = markBytes else { return false }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    guard byte == mark[count] else {
      markBytes = nil
      // These bytes were no mark but the start of the first line.
      line += mark[..<count]
      return false
    }
    markBytes = count == 2 ? nil : count + 1
    return true
  }

  private mutating func finishLine() -> Event? {
    defer { line.removeAll(keepingCapacity: line.capacity <= 1024) }
    guard !line.isEmpty else { return finishEvent() }
    guard !isTooLong else { return nil }
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
      set(line[...], [])
      return nil
    }
    var value = line[(colon + 1)...]
    if value.first == UInt8(ascii: " ") { value.removeFirst() }
    set(line[..<colon], value)
    return nil
  }

  private mutating func set(_ field: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
    switch String(decoding: field, as: UTF8.self) {
    case "event": type = String(decoding: value, as: UTF8.self)
    case "data":
      guard data.count + value.count + 1 <= Self.limit else {
        isTooLong = true
        return
      }
      data += value
      data.append(UInt8(ascii: "\n"))
      hasData = true
    case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
    case "retry":
      // The standard allows only digits. A number that overflows is ignored.
      guard !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let milliseconds = Int64(String(decoding: value, as: UTF8.self))
      else { return }
      retry = .milliseconds(min(milliseconds, 3_600_000))
    // A comment has an empty field name.
    default: break
    }
  }

  /// Ends an event at an empty line.
  private mutating func finishEvent() -> Event? {
    defer {
      (type, id, hasData, isTooLong) = ("", nil, false, false)
      data.removeAll(keepingCapacity: data.capacity <= 1024)
    }
    if let id { lastID = id }
    guard !isTooLong else {
      passedOver += 1
      // The position still moves past the skipped event.
      return id.map { Event(type: "", data: "", id: $0, lastID: lastID) }
    }
    guard hasData || id != nil else { return nil }
    return Event(
      type: type.isEmpty ? "message" : type, data: String(decoding: data.dropLast(), as: UTF8.self), id: id,
      lastID: lastID)
  }
}
