import CLinux
import Glibc
import Testing

/// A peer that writes and reads bytes as it likes; it never waits.
final class RawClient {
  private var descriptor: Int32
  private var received: [UInt8] = []
  /// Whether the server has closed the connection.
  private(set) var isAtEnd = false

  /// Connects to the socket at a path.
  init(path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(result == 0)
  }

  /// Takes over a connected socket.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close() }

  func close() {
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Says that nothing more will be sent.
  func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends messages, each with its NUL.
  func send(_ messages: String...) { send(Array(messages.map { $0 + "\0" }.joined().utf8)) }

  /// Sends bytes as far as the socket takes them; gives back how many it took.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Int {
    Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
  }

  /// The messages that have come since the last time, without their NULs.
  func messages() -> [String] {
    read()
    guard let last = received.lastIndex(of: 0) else { return [] }
    let whole = received[..<last]
    received.removeSubrange(...last)
    return whole.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  private func read() {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while !isAtEnd {
      let count = recv(descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
      if count > 0 {
        received += chunk[..<count]
      } else if count < 0, errno == EAGAIN {
        return
      } else {
        // A connection that is closed with something unread ends in ECONNRESET.
        isAtEnd = true
      }
    }
  }
}
