import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

@Suite struct NetworkManagerTests {
  @Test(
    arguments: [
      (0, 0, nil), (10, 1, .offline), (20, 1, .offline), (30, 1, .offline), (40, 1, .offline), (50, 3, .limited),
      (60, 3, .limited), (60, 2, .portal), (60, 0, .limited), (70, 4, .full), (70, 0, .full), (70, 2, .portal),
      (70, 3, .limited), (70, 1, .limited),
    ] as [(UInt64, UInt64, Network.Reach?)])
  func reachByStateAndConnectivity(state: UInt64, connectivity: UInt64, reach: Network.Reach?) {
    let properties = NetworkManager.Properties(["State": .unsigned(state), "Connectivity": .unsigned(connectivity)])
    #expect(properties.reach == reach)
  }

  @Test(
    arguments: zip(
      0...5 as ClosedRange<UInt64>, [.unknown, .yes, .no, .guessYes, .guessNo, .unknown] as [Network.Metered]))
  func metered(number: UInt64, answer: Network.Metered) {
    #expect(NetworkManager.Properties(["Metered": .unsigned(number)]).meteredAnswer == answer)
  }

  @Test(
    arguments: [
      ("802-3-ethernet", .wired), ("802-11-wireless", .wifi), ("gsm", .cellular), ("cdma", .cellular),
      ("bluetooth", .other), ("bridge", .other), ("", nil),
    ] as [(String, Network.Medium?)])
  func mediumByType(type: String, medium: Network.Medium?) {
    #expect(NetworkManager.Properties(["PrimaryConnectionType": .string(type)]).medium == medium)
  }

  @Test func withoutTheCheckTheConnectivityIsUnchecked() {
    let properties = NetworkManager.Properties(["State": .unsigned(70), "Connectivity": .unsigned(0)])
    #expect(properties.answer(interface: "eth0", ssid: nil).text == "connectivity is not checked")
  }

  @Test func propertiesWithoutAStateAreNoAnswer() {
    #expect(!NetworkManager.Properties([:]).answer(interface: "", ssid: nil).isKnown)
  }
}

@Suite struct NetworkdTests {
  private static let route = Route(interface: "eth0", medium: .wired)

  @Test(
    arguments: [
      ("routable", route, .full), ("routable", nil, .limited), ("degraded", route, .limited),
      ("carrier", nil, .offline),
      ("no-carrier", nil, .offline), ("off", route, .offline), ("missing", nil, .offline), ("", nil, nil),
      (nil, nil, nil),
    ] as [(String?, Route?, Network.Reach?)])
  func reachByOperationalStateAndRoute(operational: String?, route: Route?, reach: Network.Reach?) {
    guard case .known(let network, _) = Networkd.answer(operational: operational, route: route) else {
      return #expect(reach == nil)
    }
    #expect(network.reach == reach)
  }
}
