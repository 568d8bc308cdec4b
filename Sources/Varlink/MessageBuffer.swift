import CLinux
import Glibc
import JSON

/// The bytes of one direction of a connection, split into messages at their NUL bytes.
///
/// The buffer knows no socket: `append` adds bytes, and `withNext` removes messages. `limit` and the size of one `append`
/// bound the buffer. Framing: <https://varlink.org/Method-Call>.
struct MessageBuffer {
  /// The most bytes of a message, without its NUL.
  let limit: Int
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// The number of waiting bytes, including an incomplete message.
  var count: Int { bytes.count - start }

  mutating func append(_ new: UnsafeRawBufferPointer) {
    if start > 0 {
      bytes.removeSubrange(0..<start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: new)
  }

  /// Whether a complete message is waiting.
  mutating func hasMessage() -> Bool {
    terminator() != nil
  }

  /// Removes the next complete message and passes its bytes without the NUL to `body`; nil if there is none.
  mutating func withNext<Failure: Error, Result>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let end = terminator() else { return nil }
    let message = start..<end
    start = end + 1
    searched = start
    defer { recycle() }
    // `withUnsafeBytes` cannot rethrow a typed error, so the error leaves as a value.
    let outcome = bytes.withUnsafeBytes { all -> Swift.Result<Result, Failure> in
      do throws(Failure) {
        return .success(try body(UnsafeRawBufferPointer(rebasing: all[message])))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Whether the incoming or waiting message exceeds the limit.
  var isOverLimit: Bool {
    mutating get { (terminator() ?? bytes.count) - start > limit }
  }

  private mutating func terminator() -> Int? {
    let from = searched
    let found = bytes.withUnsafeBytes { all -> Int? in
      guard let base = all.baseAddress, from < all.count else { return nil }
      guard let hit = memchr(base + from, 0, all.count - from) else { return nil }
      return UnsafeRawPointer(hit) - base
    }
    searched = found ?? bytes.count
    return found
  }

  /// Frees the memory of a long message, and keeps that of a short one for the next.
  private mutating func recycle() {
    guard start == bytes.count else { return }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1024)
    start = 0
    searched = 0
  }
}

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
