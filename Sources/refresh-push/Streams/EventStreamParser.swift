/// A parser of server-sent events (WHATWG HTML, section 9.2.6), with bounds.
///
/// The caller appends bytes, split anywhere, and gets events. An event with a line or with data above the limit is
/// skipped and counted.
struct EventStreamParser: Hashable, Sendable {
  struct StreamEvent: Hashable, Sendable {
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
  mutating func append(_ bytes: some Sequence<UInt8>) -> [StreamEvent] {
    var events: [StreamEvent] = []
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

  private mutating func finishLine() -> StreamEvent? {
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
  private mutating func finishEvent() -> StreamEvent? {
    defer {
      (type, id, hasData, isTooLong) = ("", nil, false, false)
      data.removeAll(keepingCapacity: data.capacity <= 1024)
    }
    if let id { lastID = id }
    guard !isTooLong else {
      passedOver += 1
      // The position still moves past the skipped event.
      return id.map { StreamEvent(type: "", data: "", id: $0, lastID: lastID) }
    }
    guard hasData || id != nil else { return nil }
    return StreamEvent(
      type: type.isEmpty ? "message" : type, data: String(decoding: data.dropLast(), as: UTF8.self), id: id,
      lastID: lastID)
  }
}
