import RefreshEngine
import Testing

@testable import RefreshDaemon

@Suite struct ConditionAnswerTests {
  private static let wired = Network(medium: .wired, interface: "eth0")
  private static let gone = ConditionAnswer<Network>.silent("NetworkManager left the bus")

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
      // A reason that two sources share is reported once.
      ([gone, gone], Reading(nil, problem: "NetworkManager left the bus")),
      ([.absent, .absent], Reading(nil, problem: "A, B: not on this machine")),
    ] as [([ConditionAnswer<Network>], Reading<Network>?)])
  func theFirstSourceThatKnowsDecides(answers: [ConditionAnswer<Network>], reading: Reading<Network>?) {
    #expect(Reading(of: zip(["A", "B"], answers).map { ConditionSource($0, $1) }) == reading)
  }
}
