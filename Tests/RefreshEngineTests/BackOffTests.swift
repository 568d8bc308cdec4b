import Testing

@testable import RefreshEngine

@Suite struct BackOffTests {
  @Test func `The wait doubles with each failure and stops growing`() {
    let waits = (1...12).map { BackOff.refreshes.wait(after: $0) }
    #expect(waits.prefix(4) == [.seconds(30), .seconds(60), .seconds(120), .seconds(240)])
    #expect(waits[9] == .seconds(15_360) && waits[11] == waits[9])
  }

  @Test func `Jitter is added, and the longest wait holds over both`() {
    #expect(BackOff.transfers.wait(after: 3) { $0 / 4 } == .seconds(5))
    #expect(BackOff.refreshes.wait(after: 10) { $0 } == .hours(5))
  }

  @Test func `The count of failures stops where the wait does`() {
    #expect((BackOff.refreshes.counting(3), BackOff.refreshes.counting(10)) == (4, 10))
  }

  @Test func `A partition is found in lists of every length`() {
    for count in 0..<20 {
      let numbers = Array(0..<count)
      for first in 0...count { #expect(numbers.partitioningIndex { $0 >= first } == first) }
    }
  }
}
