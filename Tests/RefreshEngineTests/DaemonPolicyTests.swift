import Testing

@testable import RefreshEngine

@Suite struct DaemonPolicyTests {
  @Test func `Bandwidth is shared evenly, and no worker gets nothing`() {
    #expect(Bandwidth.share(of: nil, among: 3) == nil)
    #expect(Bandwidth.share(of: 100, among: 0) == 100)
    #expect(Bandwidth.share(of: 100, among: 3) == 33)
    #expect(Bandwidth.share(of: 2, among: 3) == 1)
  }

  @Test func `An attempt makes progress only beyond the farthest one before it`() {
    var progress = AttemptProgress(bytes: 1000)
    progress.begin()
    progress.bytes = 1000 + AttemptProgress.worthHaving - 1
    #expect(!progress.hasProgressed)
    progress.bytes += 1
    #expect(progress.hasProgressed)
    progress.begin()
    progress.bytes = 500
    progress.begin()
    progress.bytes = 1000 + AttemptProgress.worthHaving
    #expect(!progress.hasProgressed)
  }

  @Test func `Server hints merge to the longest wait and the shortest freshness`() {
    var hints = ServerHints()
    hints.merge(retryAfter: .seconds(60))
    hints.merge(retryAfter: .seconds(30))
    hints.merge(freshFor: .hours(30))
    #expect(hints.retryAfter == .seconds(60) && hints.freshFor == .hours(24))
    hints.merge(freshFor: .seconds(5))
    hints.merge(retryAfter: .hours(100))
    #expect(hints.retryAfter == .hours(24) && hints.freshFor == .seconds(5))
  }

  @Test func `Freshness counts only if every task fetches`() {
    #expect(ServerHints.freshFor(.seconds(9), tasks: []) == .seconds(9))
    #expect(ServerHints.freshFor(nil, tasks: [false]) == nil)
    #expect(ServerHints.freshFor(nil, tasks: [true, true]) == .zero)
    #expect(ServerHints.freshFor(.seconds(9), tasks: [true, false]) == nil)
  }

  @Test func `The first process to attach performs, unless it is late or leaves`() {
    let (first, second) = (LeaseID(1), LeaseID(2))
    var performers = Performers()
    performers.add(first)
    performers.add(second)
    #expect(performers.next() == first && performers.next { $0 != first } == second)
    performers.setLate(first)
    #expect(performers.next() == second)
    performers.setAnswered(first)
    #expect(performers.next() == first)
    performers.setLate(first)
    performers.setLeaving(first)
    performers.setAnswered(first)
    #expect(performers.next() == second)
    performers.remove(first)
    performers.remove(second)
    #expect(performers.next() == nil && performers.leases.isEmpty)
  }
}
