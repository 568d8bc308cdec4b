import CSystemd
import Glibc
import PrivateBus
import Testing

@testable import Systemd

@Suite struct BusArgumentTests {
  /// The values that the other end reads from a call with these arguments.
  private func sent(_ arguments: [BusArgument]) throws -> [BusValue] {
    let bus = try Bus(try PrivateBus().address, on: try EventLoop())
    let method = BusMethod("org.example", path: "/", interface: "org.example.Test", name: "Take", arguments: arguments)
    let message = try BusMessage(calling: method, on: bus.connection)
    defer { message.release() }
    try check(sd_bus_message_seal(message.message, 1, 0), cannot: "seal a message")
    return try message.values()
  }

  @Test func argumentsArriveUnchanged() throws {
    let properties: [BusArgument] = [
      .structure([.string("Type"), .variant(.string("exec"))]),
      .structure([.string("RuntimeMaxUSec"), .variant(.uint64(.max))]),
      .structure([
        .string("ExecStart"),
        .variant(
          .array(of: "(sasb)", [.structure([.string("/bin/sh"), .strings(["sh", "-c", "a 'b'"]), .boolean(false)])])),
      ]),
    ]
    let values = try sent([
      .string("Grüße"), .int32(-9), .boolean(true), .strings([]), .array(of: "(sv)", properties),
    ])
    #expect(
      values == [
        .string("Grüße"), .integer(-9), .boolean(true), .array([]),
        .array([
          .structure([.string("Type"), .string("exec")]),
          .structure([.string("RuntimeMaxUSec"), .unsigned(.max)]),
          .structure([
            .string("ExecStart"),
            .array([
              .structure([
                .string("/bin/sh"), .array([.string("sh"), .string("-c"), .string("a 'b'")]), .boolean(false),
              ])
            ]),
          ]),
        ]),
      ])
  }

  @Test func aClosedDescriptorIsAnErrorBeforeAnythingIsSent() throws {
    let error = #expect(throws: SystemdError.self) { try sent([.descriptor(1 << 20)]) }
    #expect(error?.code == EBADF)
    #expect(error?.description.hasPrefix("cannot write a call of Take") == true)
  }

  @Test(arguments: [
    ("refreshd-task-1-1-0.service", "/unit/refreshd_2dtask_2d1_2d1_2d0_2eservice"), ("1a", "/unit/_31a"),
  ])
  func aNameBecomesAPathAsSystemdWritesIt(name: String, path: String) {
    #expect(BusPath.encoded(name, below: "/unit") == path)
  }
}

@Suite struct BusSessionTests {
  @Test func aCallWaitsForItsAnswer() throws {
    let (server, loop) = (try PrivateBus(), try EventLoop())
    try server.start()
    // The loop waits for a bus that serves a moment later; a session does not.
    let bus = try Bus(server.address, on: loop)
    let watch = bus.watch { if $0 == .connected { loop.exit(0) } }
    #expect(try loop.turn() == 0)
    let daemon = "org.freedesktop.DBus"
    let session = try BusSession(server.address)
    let names = try session.call(BusMethod(daemon, path: "/", interface: daemon, name: "ListNames")).first?.elements
    #expect(names?.contains(.string(daemon)) == true)
    let error = #expect(throws: BusError.self) {
      try session.call(.get("Version", of: "org.example", at: "/", in: "org.example.Nobody"))
    }
    #expect(error?.isNobodyThere == true)
    withExtendedLifetime(watch) {}
  }

  @Test func aMissingBusIsAnError() throws {
    let error = #expect(throws: SystemdError.self) { _ = try BusSession(try PrivateBus().address) }
    #expect(error?.description.hasPrefix("cannot connect to the test bus") == true)
  }

  @Test func aBusThatAcceptsNoConnectionTimesOut() throws {
    let name = "refreshd-tests-silent-\(getpid())"
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0[1...].copyBytes(from: name.utf8) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
    }
    try #require(result == 0 && listen(listener, 1) == 0)
    let before = EventLoop.bootMicroseconds()
    let error = #expect(throws: SystemdError.self) {
      _ = try BusSession(BusAddress("unix:abstract=\(name)", name: "silent bus"), patience: 100_000)
    }
    #expect(error?.code == ETIMEDOUT)
    #expect((100_000..<5_000_000).contains(EventLoop.bootMicroseconds() - before))
  }
}
