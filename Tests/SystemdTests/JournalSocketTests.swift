import Glibc
import Testing

@testable import Systemd

/// The journal's socket never blocks, and reports the dropped entries.
@Suite struct JournalSocketTests {
  /// A socket in place of journald's, which is read only when the test says so.
  private final class Receiver {
    let path: String
    let descriptor: Int32

    init() throws {
      var template = Array("/tmp/journal-XXXXXX".utf8CString)
      let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
      path = "\(directory)/socket"
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let result = withUnsafePointer(to: address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      try #require(result == 0)
    }

    deinit {
      close(descriptor)
      unlink(path)
      rmdir(String(path.dropLast("/socket".count)))
    }

    /// The messages that have come so far.
    func messages() -> [String] {
      var messages: [String] = []
      var bytes = [UInt8](repeating: 0, count: 1 << 17)
      while case let count = recv(descriptor, &bytes, bytes.count, 0), count >= 0 {
        messages.append(String(decoding: bytes[..<count], as: UTF8.self))
      }
      return messages
    }
  }

  @Test func `nothing waits for a journald that reads nothing, and all that was kept arrives in order`() throws {
    let receiver = try Receiver()
    let socket = JournalSocket(identifier: "test", path: receiver.path)
    for number in 1...20_000 { socket.send(["MESSAGE=\(number)"]) }
    var got: [String] = []
    for _ in 1...20_000 {
      let more = receiver.messages()
      socket.flush()
      if more.isEmpty { break }
      got += more
    }
    let kept = got.count - 1
    #expect(got.dropLast() == (1...kept).map { "MESSAGE=\($0)\n" }[...])
    #expect(kept >= JournalSocket.keptEntries)
    #expect(got.last?.hasPrefix("MESSAGE=\(20_000 - kept) journal entries are missing here: ") == true)
    socket.send(["MESSAGE=later"])
    #expect(receiver.messages() == ["MESSAGE=later\n"])
  }

  @Test func `the loop sends what was kept as soon as there is room`() throws {
    let receiver = try Receiver()
    let loop = try EventLoop()
    let socket = JournalSocket(identifier: "test", path: receiver.path)
    let flush = try JournalFlush(of: Journal(identifier: "test", destination: .journal(socket)), on: loop)
    for number in 1...1000 { socket.send(["MESSAGE=\(number)"]) }
    var got: [String] = []
    let watch = try loop.watch(receiver.descriptor, for: .readable) { _ in
      got += receiver.messages()
      if got.count >= 1000 { loop.exit(0) }
    }
    _ = try withExtendedLifetime((flush, watch)) { try loop.run() }
    #expect(got == (1...1000).map { "MESSAGE=\($0)\n" })
  }

  @Test func `a journald that is away is found later, and told what is missing`() throws {
    let receiver = try Receiver()
    let away = "\(receiver.path).away"
    rename(receiver.path, away)
    let socket = JournalSocket(identifier: "test", path: receiver.path)
    socket.send(["MESSAGE=early"])
    rename(away, receiver.path)
    socket.send(["MESSAGE=late"])
    let got = receiver.messages()
    #expect(got.count == 2 && got[0].hasPrefix("MESSAGE=1 journal entries are missing here: "))
    #expect(got.last == "MESSAGE=late\n")
  }

  @Test func `a value with line breaks has its length before it`() {
    #expect(
      JournalSocket.datagram(["A=x", "B=1\n2"])
        == Array("A=x\nB\n".utf8) + [3, 0, 0, 0, 0, 0, 0, 0] + Array("1\n2\n".utf8))
  }
}
