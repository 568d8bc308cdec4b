import CSystemd
import Glibc
import PrivateBus
import Testing

@testable import Systemd

/// The signals of a service count only from the connection that owns its name.
@Suite struct BusNameOwnerTests {
  private static let service = "org.example.Service"
  private static let changed = BusSignal(service, path: "/", interface: service, name: "Changed")

  /// A service on a bus, and a listener that connects after it.
  private final class Stage {
    let loop: EventLoop
    let server: PrivateBus
    let service: Bus
    private(set) var heard: [String] = []
    private var first: First?
    private var kept: [AnyObject] = []

    init() throws {
      (loop, server) = (try EventLoop(), try PrivateBus())
      try server.start()
      service = try Bus(server.address, on: loop)
      try settle(service)
      let name = BusMethod(
        BusNameOwner.bus, path: "/org/freedesktop/DBus", interface: BusNameOwner.bus, name: "RequestName",
        arguments: [.string(BusNameOwnerTests.service), .uint32(0)])
      try ask(name, on: service)
    }

    /// Runs the loop until something is so.
    func until(_ isSo: () -> Bool) throws {
      let end = EventLoop.bootMicroseconds() + 10_000_000
      while !isSo() {
        try #require(EventLoop.bootMicroseconds() < end, "it did not come about in time")
        try #require(sd_event_run(loop.event, 100_000) >= 0)
      }
    }

    /// Runs the loop until the bus has handled all earlier messages of a connection.
    func settle(_ bus: Bus) throws {
      try until { bus.state == .connected }
      try ask(BusMethod(BusNameOwner.bus, path: "/", interface: BusNameOwner.bus, name: "GetId"), on: bus)
    }

    private func ask(_ method: BusMethod, on bus: Bus) throws {
      var isAnswered = false
      let call = bus.call(method, timeout: 5_000_000) { _ in isAnswered = true }
      try until { isAnswered }
      withExtendedLifetime(call) {}
    }

    func listen(waiting patience: Int64 = BusObject.longestWait, first: @escaping () -> Void = {}) throws -> Bus {
      let bus = try Bus(server.address, on: loop)
      bus.longestForOwner = patience
      self.first = First(on: bus, first)
      kept.append(
        bus.listen(to: BusNameOwnerTests.changed) { [unowned self] values in
          heard.append(values.first?.text ?? "")
        })
      return bus
    }

    /// Sends the signal to everybody, or to one connection whatever it listens to.
    func send(_ text: String, from sender: Bus, to destination: String? = nil) throws {
      var message: OpaquePointer?
      defer { sd_bus_message_unref(message) }
      let service = BusNameOwnerTests.service
      try #require(sd_bus_message_new_signal(sender.connection, &message, "/", service, "Changed") >= 0)
      try #require(BusArgument.string(text).append(to: try #require(message)) >= 0)
      try #require(sd_bus_send_to(sender.connection, message, destination, nil) >= 0)
      try settle(sender)
    }
  }

  /// Acts on a new connection before anything is asked on it.
  private final class First: BusSubscription {
    let rank = -1
    private let bus: Bus
    private let action: () -> Void

    init(on bus: Bus, _ action: @escaping () -> Void) {
      (self.bus, self.action) = (bus, action)
      bus.add(self)
    }

    deinit { bus.remove(self) }

    func busChanged() { if bus.state == .connected { action() } }
  }

  @Test func onlyTheOwnerOfTheNameIsHeard() throws {
    let stage = try Stage()
    let (bus, stranger) = (try stage.listen(), try Bus(stage.server.address, on: stage.loop))
    try stage.settle(bus)
    try stage.settle(stranger)
    try stage.send("to all", from: stranger)
    try stage.send("to one", from: stranger, to: bus.uniqueName)
    try stage.send("true", from: stage.service)
    try stage.until { !stage.heard.isEmpty }
    #expect(stage.heard == ["true"])
  }

  @Test func aLateAnswerAboutTheOwnerCounts() throws {
    let stage = try Stage()
    // Not the stage, which keeps the closure.
    let server = stage.server
    let bus = try stage.listen { server.pause() }
    try stage.until { bus.state == .connected }
    let resume = try stage.loop.timer { server.resume() }
    resume.arm(at: EventLoop.bootMicroseconds() + 200_000, accuracy: 1)
    try stage.settle(bus)
    try stage.send("late", from: stage.service)
    try stage.until { !stage.heard.isEmpty }
    #expect(stage.heard == ["late"])
  }

  @Test func aBusThatDoesNotNameTheOwnerIsConnectedAgain() throws {
    let stage = try Stage()
    let server = stage.server
    var tries = 0
    let bus = try stage.listen(waiting: 100_000) {
      tries += 1
      if tries == 1 { server.pause() }
    }
    try stage.until { bus.state == .connected }
    var reason = ""
    try stage.until {
      if case .absent(let text) = bus.state { reason = text }
      return !reason.isEmpty
    }
    #expect(reason.hasPrefix("the test bus does not say who is \(Self.service): "), "\(reason)")
    server.resume()
    try stage.settle(bus)
    try stage.send("again", from: stage.service)
    try stage.until { !stage.heard.isEmpty }
    #expect(tries == 2)
    #expect(stage.heard == ["again"])
  }
}
