import Testing

@testable import RefreshEngine

@Suite struct TerminationSequenceTests {
  private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

  @Test func `SIGTERM comes first, SIGKILL after the grace, and ten seconds later the owner gives up`() {
    var sequence = TerminationSequence(grace: .seconds(5))
    #expect(sequence.wake == nil && sequence.advance(at: at(0)) == nil)
    #expect(sequence.begin(at: at(10)) == .terminate)
    #expect(sequence.begin(at: at(11)) == nil)
    #expect(sequence.wake == at(15) && sequence.advance(at: at(14)) == nil)
    #expect(sequence.advance(at: at(15)) == .kill)
    #expect(sequence.wake == at(25) && sequence.advance(at: at(24)) == nil && !sequence.isGivenUp)
    #expect(sequence.advance(at: at(25)) == .giveUp && sequence.isGivenUp)
    #expect(sequence.wake == nil && sequence.advance(at: at(60)) == nil)
  }

  @Test func `The machine's sleep shortens the grace, before it begins and while it lasts`() {
    var sequence = TerminationSequence(grace: .seconds(5))
    sequence.begin(at: at(10), killBy: at(12))
    #expect(sequence.wake == at(12))
    sequence.bringForward(killBy: at(11))
    #expect(sequence.wake == at(11))
    sequence.bringForward(killBy: at(30))
    #expect(sequence.advance(at: at(11)) == .kill)
  }

  @Test func `A worker is killed again until it is gone`() {
    var sequence = TerminationSequence(grace: TerminationSequence.shortGrace, killsAgain: true)
    sequence.begin(at: at(0))
    #expect(
      (sequence.advance(at: at(5)), sequence.advance(at: at(6)), sequence.advance(at: at(10))) == (.kill, nil, .kill))
    sequence.bringForward(killBy: at(11))
    #expect(sequence.wake == at(15))
    #expect(sequence.advance(at: at(15)) == .giveUp)
    #expect(sequence.wake == at(20) && sequence.advance(at: at(20)) == .kill)
  }
}
