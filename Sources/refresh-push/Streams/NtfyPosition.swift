/// The time from which the next connection to an ntfy server continues (`since=`), in seconds since 1970.
///
/// `since=` with the id of a message would lose messages, because the server understands it as its order of arrival. A
/// scheduled message arrives long before it is sent, and messages of the same second are sent in any order. So the bridge
/// asks by time, and goes back a little. The daemon recognizes the ids of messages that come again; it knows the last
/// 1,000 of each app.
///
/// A server sends old messages in the order of their times, and new ones between them. It sends a keep-alive only after
/// all old ones. Before that, the bridge cannot tell how far it has come by the newest time alone.
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

  /// The server says that the stream begins, with its own time.
  mutating func open(at time: Int64) {
    newest = max(newest, time)
    // Messages from before the first connection are of the past.
    if stored == nil, floor == nil, time > 0 { floor = time }
    // A server whose clock was ahead has given a time that is yet to come, before which nothing would be asked for.
    if let floor, time > 0, floor > time { self.floor = time - Self.slack }
  }

  /// A message has arrived.
  mutating func append(_ time: Int64) {
    guard time > 0 else { return }
    newest = max(newest, time)
    times.append(time)
    if times.count > Self.mostRepeated { times.removeFirst() }
    move()
  }

  /// A keep-alive has arrived.
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
