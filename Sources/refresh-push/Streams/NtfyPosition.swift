/// The time from which the next connection to an ntfy server continues (`since=`), in seconds since 1970.
///
/// `since=` with the id of a message would lose messages, because the server reads it as an order of arrival. A scheduled
/// message arrives long before it is sent, and messages of the same second are sent in any order. So the bridge asks by
/// time, and goes back a little. The daemon recognizes the ids of repeated messages; it knows the last 1,000 of each app.
///
/// A server sends old messages in the order of their times, and new messages between them. It sends a keep-alive only after
/// all old messages. Before the keep-alive, the newest time alone does not tell which old messages have arrived.
struct NtfyPosition: Hashable {
  /// How far the next connection goes back, because a server sends a scheduled message up to 10 s late, or later if it was
  /// off when the message was due.
  static let slack: Int64 = 600
  /// The most messages that the next connection repeats, besides those of the same second.
  static let mostRepeated = 256

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

  /// The value for `since=`; nil for none, when the server sends new messages only.
  var since: String? { floor.map(String.init) ?? stored }

  /// Notes the server's time at the beginning of the stream.
  mutating func open(at time: Int64) {
    newest = max(newest, time)
    // Messages from before the first connection are not delivered.
    if stored == nil, floor == nil, time > 0 { floor = time }
    // The server's clock was ahead, so the position is in the future, and the server would send nothing.
    if let floor, time > 0, floor > time { self.floor = time - Self.slack }
  }

  /// Notes the time of an arrived message.
  mutating func append(_ time: Int64) {
    guard time > 0 else { return }
    newest = max(newest, time)
    times.append(time)
    if times.count > Self.mostRepeated { times.removeFirst() }
    move()
  }

  /// Notes a keep-alive: all old messages have arrived.
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
