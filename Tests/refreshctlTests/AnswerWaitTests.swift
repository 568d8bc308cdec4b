import Glibc
import Testing

@testable import refreshctl

@Suite struct AnswerWaitTests {
  @Test func aCallToASilentDaemonFails() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { ends.forEach { close($0) } }
    let failure = #expect(throws: Failure.self) {
      try AnswerWait(secondsUntilMessage: nil, secondsAtMost: 1).forAnswer(on: ends[0])
    }
    #expect(failure?.status == .noDaemon)
    #expect(failure?.text.hasPrefix("cannot get an answer: the daemon has not answered for 1 s") == true)
  }

  @Test func anEndedConnectionIsNoSilence() throws {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    close(ends[1])
    defer { close(ends[0]) }
    try AnswerWait(secondsUntilMessage: nil, secondsAtMost: 60).forAnswer(on: ends[0])
  }
}
