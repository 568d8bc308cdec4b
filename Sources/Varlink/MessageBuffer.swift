import Glibc

/// The bytes of one direction of a connection, cut into messages at their NUL bytes.
///
/// Knows no socket: bytes go in with `append`, messages come out with `withNext`. The buffer is bounded by `limit` and
/// the size of one `append`. Framing: <https://varlink.org/Method-Call>.
struct MessageBuffer {
  /// The most bytes a message may have, its NUL not counted.
  let limit: Int
  private var bytes: [UInt8] = []
  private var start = 0
  private var searched = 0

  init(limit: Int) {
    self.limit = limit
  }

  /// How many bytes are waiting, beginnings of messages included.
  var count: Int { bytes.count - start }

  mutating func append(_ new: UnsafeRawBufferPointer) {
    if start > 0 {
      bytes.removeSubrange(0..<start)
      searched -= start
      start = 0
    }
    bytes.append(contentsOf: new)
  }

  /// Whether a whole message is waiting.
  mutating func hasMessage() -> Bool {
    terminator() != nil
  }

  /// Removes the next whole message and lends its bytes to `body`, without the NUL; nil when there is none yet.
  mutating func withNext<Failure: Error, Result>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let end = terminator() else { return nil }
    let message = start..<end
    start = end + 1
    searched = start
    defer { recycle() }
    // A typed error cannot leave `withUnsafeBytes` with its type, so it leaves as a value.
    let outcome = bytes.withUnsafeBytes { all -> Swift.Result<Result, Failure> in
      do throws(Failure) {
        return .success(try body(UnsafeRawBufferPointer(rebasing: all[message])))
      } catch {
        return .failure(error)
      }
    }
    return try outcome.get()
  }

  /// Whether the message that is coming in, or waiting, is longer than the limit.
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

  /// Gives the memory of a long message back, and keeps that of a short one for the next.
  private mutating func recycle() {
    guard start == bytes.count else { return }
    bytes.removeAll(keepingCapacity: bytes.capacity <= 1024)
    start = 0
    searched = 0
  }
}
