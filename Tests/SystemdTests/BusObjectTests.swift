import Glibc
import PrivateBus
import Testing

@testable import Systemd

/// The object is the bus itself, which has properties; Tests/ServiceTests has services whose properties change.
@Suite struct BusObjectTests {
  private let service = "org.freedesktop.DBus"

  private func object(_ name: String, on bus: Bus) throws -> BusObject {
    try BusObject(
      name, called: "Service", path: "/org/freedesktop/DBus", interface: service, wanted: ["Interfaces"], on: bus)
  }

  /// The states of an object until `isLast`.
  private func states(
    of name: String, on server: PrivateBus, until isLast: @escaping (BusObject.State) -> Bool
  ) throws -> [BusObject.State] {
    let loop = try EventLoop()
    let object = try object(name, on: try Bus(server.address, on: loop))
    var states = [object.state]
    object.onChange = { [unowned object] in
      states.append(object.state)
      if isLast(object.state) { loop.exit(0) }
    }
    if !isLast(object.state) { #expect(try loop.turn() == 0) }
    return states
  }

  @Test func onlyTheWantedPropertiesAreKnown() throws {
    let server = try PrivateBus()
    try server.start()
    let states = try states(of: service, on: server) { $0.isKnown }
    guard case .known(let properties) = states.last else {
      Issue.record("the bus has properties")
      return
    }
    #expect(properties.keys.sorted() == ["Interfaces"])
    #expect(properties["Interfaces"]?.elements?.isEmpty == false)
  }

  @Test func aMissingServiceIsAbsent() throws {
    let server = try PrivateBus()
    try server.start()
    #expect(try states(of: "org.example.Nobody", on: server) { $0 == .absent }.last == .absent)
  }

  @Test func withoutABusAnObjectIsSilentFromTheStart() throws {
    let reason = BusObject.State.silent("there is no test bus")
    #expect(try states(of: service, on: try PrivateBus()) { $0 == reason } == [reason])
  }

  @Test func aLostBusMakesAnObjectSilent() throws {
    let server = try PrivateBus()
    try server.start()
    let states = try states(of: service, on: server) { state in
      if case .known = state { server.stop() }
      return state == .silent("the test bus is gone")
    }
    #expect(states.last == .silent("the test bus is gone"))
  }
}

extension BusObject.State {
  fileprivate var isKnown: Bool {
    if case .known = self { true } else { false }
  }
}
