import Glibc

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
