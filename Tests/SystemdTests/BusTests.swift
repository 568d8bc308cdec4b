import Glibc
import PrivateBus
import Testing

@testable import Systemd

@Suite struct BusTests {
  static let daemon = "org.freedesktop.DBus"

  /// Runs a loop with a bus; calls `body` when the connection is there.
  private func withBus(_ body: @escaping (Bus, EventLoop) -> Void) throws {
    let (loop, server) = (try EventLoop(), try PrivateBus())
    try server.start()
    let bus = try Bus(server.address, on: loop)
    let watch = bus.watch { if $0 == .connected { body(bus, loop) } }
    #expect(try loop.turn() == 0)
    withExtendedLifetime((watch, server)) {}
  }

  @Test func aCallIsAnswered() throws {
    var answer: BusCall.Answer?
    var call: BusCall?
    try withBus { bus, loop in
      call = bus.call(BusMethod(Self.daemon, path: "/", interface: Self.daemon, name: "ListNames")) {
        answer = $0
        loop.exit(0)
      }
    }
    let names = try #require(try answer?.get().first?.elements)
    #expect(names.contains(.string(Self.daemon)))
    withExtendedLifetime(call) {}
  }

  @Test func aCallToAMissingServiceIsAnError() throws {
    var answer: BusCall.Answer?
    var call: BusCall?
    try withBus { bus, loop in
      call = bus.call(.getAll(of: "org.example.Nobody", at: "/", in: "org.example.Nobody")) {
        answer = $0
        loop.exit(0)
      }
    }
    let error = #expect(throws: BusError.self) { try answer?.get() }
    #expect(error?.isNobodyThere == true)
    withExtendedLifetime(call) {}
  }

  @Test func aReleasedCallIsCancelled() throws {
    var answers: [String] = []
    var calls: [BusCall] = []
    try withBus { bus, loop in
      let ask = { (name: String) in
        bus.call(BusMethod(Self.daemon, path: "/", interface: Self.daemon, name: "GetId")) { _ in
          answers.append(name)
          if name == "kept" { loop.exit(0) }
        }
      }
      _ = ask("released")
      calls = [ask("kept")]
    }
    #expect(answers == ["kept"])
    withExtendedLifetime(calls) {}
  }

  @Test func aCallWithoutAConnectionFailsAtOnce() throws {
    let bus = try Bus(PrivateBus().address, on: EventLoop())
    var answer: BusCall.Answer?
    _ = bus.call(BusMethod(Self.daemon, path: "/", interface: Self.daemon, name: "GetId")) { answer = $0 }
    #expect(throws: BusError.self) { try answer?.get() }
  }

  @Test func aListenerReceivesSignalsUntilItIsReleased() throws {
    let signal = BusSignal(Self.daemon, path: "/org/freedesktop/DBus", interface: Self.daemon, name: "NameOwnerChanged")
    var heard: [BusValue] = []
    var others: [Bus] = []
    var listeners: [BusListener] = []
    try withBus { bus, loop in
      let released = bus.listen(to: signal) { _ in Issue.record("a listener was called after its release") }
      listeners = [
        bus.listen(to: signal) { values in
          heard = values
          loop.exit(0)
        }
      ]
      withExtendedLifetime(released) {}
      // The bus announces a connection by its unique name, which has no previous owner.
      do { others = [try Bus(bus.address, on: loop)] } catch { Issue.record(error) }
    }
    try #require(heard.count == 3)
    #expect(heard[0].text?.hasPrefix(":") == true)
    #expect(heard[1] == .string(""))
    withExtendedLifetime((others, listeners)) {}
  }

  @Test func aMissingBusIsFoundWhenItAppears() throws {
    let (loop, server) = (try EventLoop(), try PrivateBus())
    let bus = try Bus(server.address, on: loop)
    #expect(bus.state == .absent("there is no test bus"))
    let start = try loop.timer { do { try server.start() } catch { Issue.record(error) } }
    start.arm(at: 0, accuracy: 1)
    let watch = bus.watch { if $0 == .connected { loop.exit(0) } }
    #expect(try loop.turn() == 0)
    withExtendedLifetime((watch, start)) {}
  }

  @Test func aRestartedBusIsFoundAgain() throws {
    let (loop, server) = (try EventLoop(), try PrivateBus())
    try server.start()
    let bus = try Bus(server.address, on: loop)
    var states: [Bus.State] = []
    let watch = bus.watch { state in
      states.append(state)
      switch (state, states.filter { $0 == .connected }.count) {
      case (.connected, 1): server.stop()
      case (.connected, _): loop.exit(0)
      case (.absent("the test bus is gone"), _): do { try server.start() } catch { Issue.record(error) }
      default: break
      }
    }
    #expect(try loop.turn() == 0)
    #expect(states.contains(.absent("the test bus is gone")))
    withExtendedLifetime(watch) {}
  }
}
