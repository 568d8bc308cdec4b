import RefreshEngine
import Testing

@testable import RefreshDaemon

@Suite struct TestimonyTests {
  private static let wired = Network(medium: .wired, interface: "eth0")
  private static let gone = Testimony<Network>.silent("NetworkManager left the bus")

  @Test(
    arguments: [
      ([.known(wired), .awaited], Reading(wired, source: "A")),
      ([.awaited, .known(wired)], nil),
      ([.absent, .awaited], nil),
      ([.absent, .known(wired)], Reading(wired, source: "B")),
      ([gone, .known(wired)], Reading(wired, source: "B", problem: "NetworkManager left the bus; B instead")),
      (
        [gone, .known(wired, without: "connectivity is not checked")],
        Reading(wired, source: "B", problem: "NetworkManager left the bus; B instead; connectivity is not checked")
      ),
      // The same reason for both is said once.
      ([gone, gone], Reading(nil, problem: "NetworkManager left the bus")),
      ([.absent, .absent], Reading(nil, problem: "A, B: not on this machine")),
    ] as [([Testimony<Network>], Reading<Network>?)])
  func theFirstThatKnowsHasTheWord(testimonies: [Testimony<Network>], reading: Reading<Network>?) {
    #expect(Reading(of: zip(["A", "B"], testimonies).map { Witness($0, $1) }) == reading)
  }
}
