/// Reads a stream of server-sent events as the WHATWG's HTML standard has it, section 9.2.6, and within bounds.
///
/// Takes bytes, cut anywhere, and gives events; it knows no connection. An event with a line or with data of more than
/// the limit is passed over and counted.
struct EventStreamParser: Hashable, Sendable {
  /// One event.
  struct Event: Hashable, Sendable {
    /// Its type, `message` if it names none.
    var type: String
    /// Its data; empty for an event that only sets an id, which is no event to others.
    var data: String
    /// The id that came with it; nil if none did.
    var id: String?
    /// The last id that came, with it or before it; empty for none.
    var lastID: String
  }

  /// The most bytes of a line, and of the data of one event.
  static let limit = 16 << 10

  /// How long the server wants clients to wait before they connect again; nil if it has not said so.
  private(set) var retry: Duration?
  /// How many events were too long.
  private(set) var passedOver = 0

  private var line: [UInt8] = []
  private var isAfterCarriageReturn = false
  /// How many bytes of a byte order mark at the very beginning have come; nil once that is over.
  private var markBytes: Int? = 0
  private var isTooLong = false

  private var type = ""
  private var data: [UInt8] = []
  private var hasData = false
  private var id: String?
  private var lastID: String

  /// Begins a stream that goes on after the event with this id; empty for none.
  init(lastID: String = "") { self.lastID = lastID }

  /// Takes bytes in, and gives the events that end in them.
  mutating func take(_ bytes: some Sequence<UInt8>) -> [Event] {
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

  /// Whether a byte belongs to the mark that may come first, and is no part of any line.
  private mutating func isOfMark(_ byte: UInt8) -> Bool {
    guard let count = markBytes else { return false }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    guard byte == mark[count] else {
      markBytes = nil
      // It was none after all: what was taken for it begins the line.
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
      // Digits only; more than a number has room for mean nothing.
      guard !value.isEmpty, value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let milliseconds = Int64(String(decoding: value, as: UTF8.self))
      else { return }
      retry = .milliseconds(min(milliseconds, 3_600_000))
    // A comment has an empty name.
    default: break
    }
  }

  /// The end of an event, which is an empty line.
  private mutating func finishEvent() -> Event? {
    defer {
      (type, id, hasData, isTooLong) = ("", nil, false, false)
      data.removeAll(keepingCapacity: data.capacity <= 1024)
    }
    if let id { lastID = id }
    guard !isTooLong else {
      passedOver += 1
      // The next time it goes on after this one.
      return id.map { Event(type: "", data: "", id: $0, lastID: lastID) }
    }
    guard hasData || id != nil else { return nil }
    return Event(
      type: type.isEmpty ? "message" : type, data: String(decoding: data.dropLast(), as: UTF8.self), id: id,
      lastID: lastID)
  }
}
