import CLinux
import Glibc
import JSON

/// The replies of one connection that the socket has not accepted yet.
struct OutputBuffer {
  private var json = JSONWriter()
  private var sent = 0
  private var hasLongReply = false
  /// The least bytes of a long reply.
  private static let longReply = 256 << 10
  /// Whether the socket was full at the last attempt.
  private(set) var isBlocked = false

  /// The kinds of messages; `continues` marks one reply of several.
  enum Kind {
    case last
    case continues
    case error(name: String)
  }

  /// The number of unsent bytes.
  var unsent: Int { json.bytes.count - sent }

  /// Appends a complete message; appends nothing and returns false if the value has a number that JSON cannot hold.
  mutating func append(_ parameters: some JSONWritable, as kind: Kind) -> Bool {
    let count = json.bytes.count
    switch kind {
    case .last, .continues: json.literal(#"{"parameters":"#)
    case .error(let name):
      json.literal(#"{"error":"#)
      json.string(name)
      json.literal(#","parameters":"#)
    }
    parameters.write(to: &json)
    guard !json.hasUnwritable else {
      json.truncate(to: count)
      return false
    }
    if case .continues = kind { json.literal(#","continues":true"#) }
    json.literal("}\0")
    hasLongReply = hasLongReply || json.bytes.count - count > Self.longReply
    return true
  }

  /// Returns whether a long reply was completely sent since the last call.
  mutating func hasSentLongReply() -> Bool {
    guard hasLongReply, unsent == 0 else { return false }
    hasLongReply = false
    return true
  }

  /// Sends the bytes that the socket accepts; returns false if the connection is broken.
  mutating func flush(to socket: Int32) -> Bool {
    while unsent > 0 {
      let count = json.bytes.withUnsafeBytes { all in
        linux_send(socket, all.baseAddress.map { $0 + sent }, all.count - sent, 0)
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        isBlocked = true
        forgetSent()
        return true
      } else if errno != EINTR {
        return false
      }
    }
    discard()
    return true
  }

  /// Frees the sent bytes, also for a reader that never quite catches up.
  ///
  /// Frees them only when they are the larger part, so that each byte moves at most once on average.
  private mutating func forgetSent() {
    guard sent > unsent else { return }
    json.bytes.removeSubrange(..<sent)
    sent = 0
  }

  /// Drops the unsent bytes, and frees the memory of a long reply.
  mutating func discard() {
    json.bytes.removeAll(keepingCapacity: json.bytes.capacity <= 4096)
    sent = 0
    isBlocked = false
  }
}
