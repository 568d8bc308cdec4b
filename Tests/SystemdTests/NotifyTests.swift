import Glibc
import Testing

@testable import Systemd

@Suite struct NotifyTests {
  @Test(
    arguments: [
      (.ready, "READY=1"),
      (.status("3 apps, 1 refreshing"), "STATUS=3 apps, 1 refreshing"),
      (.status("bad file\nREADY=1\r\nx"), "STATUS=bad file READY=1 x"),
      (.status(String(repeating: "ü", count: 3000)), "STATUS=" + String(repeating: "ü", count: 1022) + "…"),
      (.reloading(monotonicMicroseconds: 12), "RELOADING=1\nMONOTONIC_USEC=12"),
      (.stopping, "STOPPING=1"),
      (.extendTimeout(microseconds: 5_000_000), "EXTEND_TIMEOUT_USEC=5000000"),
    ] as [(Notify, String)])
  func aNoticeIsALineOfTheProtocol(notice: Notify, text: String) {
    #expect(notice.text == text)
  }
}

/// Tests of the environment that a service manager sets; serialized, because a process has one environment.
@Suite(.serialized) struct ServiceEnvironmentTests {
  @Test func noticesGoInOneMessageToTheManagersSocket() throws {
    let manager = try Manager()
    try withEnvironment(["NOTIFY_SOCKET": manager.path]) { () throws in
      #expect(try Notify.send(.ready, .status("2 apps")))
    }
    #expect(manager.receive() == "READY=1\nSTATUS=2 apps")
  }

  @Test func aDescriptorIsStoredAndRemovedByName() throws {
    let (manager, pipe) = (try Manager(), Pipe())
    try withEnvironment(["NOTIFY_SOCKET": manager.path]) { () throws in
      #expect(try Notify.store(pipe.reading, name: "task-1-1-0"))
      Notify.unstore("task-1-1-0")
    }
    #expect(manager.receive() == "FDSTORE=1\nFDPOLL=0\nFDNAME=task-1-1-0")
    #expect(manager.receive() == "FDSTOREREMOVE=1\nFDNAME=task-1-1-0")
  }

  @Test func withoutAManagerNothingIsSent() throws {
    try withEnvironment(["NOTIFY_SOCKET": nil]) { () throws in
      #expect(try Notify.send(.ready) == false)
    }
  }

  @Test func aManagerThatDoesNotListenIsAnError() throws {
    try withEnvironment(["NOTIFY_SOCKET": "/nonexistent/notify"]) { () throws in
      let error = #expect(throws: SystemdError.self) { try Notify.send(.stopping) }
      #expect(error?.code == ENOENT)
      #expect(error?.description == "cannot notify the service manager \"STOPPING=1\": No such file or directory")
    }
  }

  @Test func theLoopSendsWatchdogMessages() throws {
    let manager = try Manager()
    let environment = ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "20000", "WATCHDOG_PID": "\(getpid())"]
    try withEnvironment(environment) { () throws in
      let loop = try EventLoop()
      #expect(try loop.watchdog())
      var messages: [String] = []
      let source = try loop.watch(manager.descriptor, for: .readable) { _ in
        messages.append(manager.receive())
        if messages.count == 3 { loop.exit(0) }
      }
      #expect(try loop.turn() == 0)
      source.cancel()
      #expect(messages == ["WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"])
    }
  }

  @Test func withoutAWatchdogTheLoopReturnsFalse() throws {
    try withEnvironment(["WATCHDOG_USEC": nil, "WATCHDOG_PID": nil]) { () throws in
      #expect(try EventLoop().watchdog() == false)
    }
  }

  @Test func socketsForAnotherProcessAreIgnored() throws {
    try withEnvironment(["LISTEN_PID": "1", "LISTEN_FDS": "1", "LISTEN_FDNAMES": "varlink"]) { () throws in
      #expect(try PassedDescriptor.claimAll() == [])
    }
  }

  @Test func anInvalidCountOfSocketsIsAnError() throws {
    try withEnvironment(["LISTEN_PID": "\(getpid())", "LISTEN_FDS": "many", "LISTEN_FDNAMES": nil]) { () throws in
      let error = #expect(throws: SystemdError.self) { _ = try PassedDescriptor.claimAll() }
      #expect(error?.code == EINVAL)
    }
  }

  @Test func standardErrorIsTheJournalIfSystemdNamesThatStream() throws {
    let (stream, other) = (Pipe(), Pipe())
    var file = stat()
    #expect(fstat(stream.writing, &file) == 0)
    try withEnvironment(["JOURNAL_STREAM": "\(file.st_dev):\(file.st_ino)"]) { () throws in
      #expect(Journal.isJournal(stream.writing))
      #expect(!Journal.isJournal(other.writing))
    }
    try withEnvironment(["JOURNAL_STREAM": nil]) { () throws in #expect(!Journal.isJournal(stream.writing)) }
  }
}

/// The service manager's end of the notification socket.
private final class Manager {
  let path: String
  let descriptor: Int32

  /// An address in the abstract namespace, which needs no directory and disappears with the socket.
  init() throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    let name = "refreshd-tests-\(getpid())-\(descriptor)"
    path = "@" + name
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    try #require(result == 0)
  }

  deinit { close(descriptor) }

  func receive() -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// Runs `body` with these variables set, or unset where the value is nil, and restores the environment.
private func withEnvironment(_ variables: [String: String?], _ body: () throws -> Void) throws {
  func put(_ value: String?, _ name: String) {
    if let value { setenv(name, value, 1) } else { unsetenv(name) }
  }
  let before = variables.map { name, _ in (name, getenv(name).map { String(cString: $0) }) }
  defer { for (name, value) in before { put(value, name) } }
  for (name, value) in variables { put(value, name) }
  try body()
}
