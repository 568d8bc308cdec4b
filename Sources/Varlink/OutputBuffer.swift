import CLinux
import Glibc

/// The answers of one connection that the socket has not taken yet.
struct OutputBuffer {
  private var bytes: [UInt8] = []
  private var sent = 0
  /// Whether the socket was full at the last attempt.
  private(set) var isBlocked = false

  /// How many bytes are not sent.
  var unsent: Int { bytes.count - sent }

  mutating func append(_ write: (inout [UInt8]) throws -> Void) rethrows {
    try write(&bytes)
  }

  /// Sends what the socket takes.
  ///
  /// False when the connection is broken.
  mutating func flush(to socket: Int32) -> Bool {
    while unsent > 0 {
      let count = bytes.withUnsafeBytes { all in
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

  /// Gives the room of what is sent back, also for a reader who never quite catches up.
  ///
  /// Only when it is the larger part, so that no byte is moved more than once on average.
  private mutating func forgetSent() {
    guard sent > unsent else { return }
    bytes.removeSubrange(..<sent)
    sent = 0
  }

  /// Forgets what is not sent, and gives the memory of a long answer back.
  mutating func discard() {
    bytes.removeAll(keepingCapacity: bytes.capacity <= 4096)
    sent = 0
    isBlocked = false
  }
}
