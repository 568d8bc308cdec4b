import RefreshAPI
import Testing

@testable import refresh_worker

/// How reports are batched into calls, and which are dropped.
struct ReportQueueTests {
  private func ended(_ id: Int64, _ message: String? = nil) -> Wire.TransferReport {
    Wire.TransferReport(id: id, kind: .ended, end: .failed, message: message)
  }

  private func progress(_ id: Int64, _ bytes: Int64) -> Wire.TransferReport {
    Wire.TransferReport(id: id, kind: .progress, bytes: bytes)
  }

  @Test func oneCallIsMadeAtATimeAndWhatItSavedIsTold() {
    var queue = ReportQueue()
    var saved: [Int64] = []
    for id in 1...2 as ClosedRange<Int64> { queue.add(ended(id)) { saved.append(id) } }
    #expect(queue.nextCall().map(\.id) == [1, 2])
    queue.add(ended(3))
    #expect(queue.nextCall().isEmpty && saved.isEmpty)
    for onSaved in queue.finishCall() { onSaved() }
    #expect(saved == [1, 2])
    #expect(queue.nextCall().map(\.id) == [3])
    #expect(!queue.isEmpty)
    _ = queue.finishCall()
    #expect(queue.isEmpty)
  }

  @Test func aCallHasItsBounds() {
    var queue = ReportQueue()
    for id in 1...250 as ClosedRange<Int64> { queue.add(ended(id)) }
    var counts: [Int] = []
    while !queue.isEmpty {
      counts.append(queue.nextCall().count)
      _ = queue.finishCall()
    }
    #expect(counts == [100, 100, 50])
    let long = String(repeating: "x", count: 60_000)
    for id in 1...5 as ClosedRange<Int64> { queue.add(ended(id, long)) }
    #expect(queue.nextCall().map(\.id) == [1, 2])
  }

  @Test func whatIsTooLongForACallIsTheOnlyOneInIt() {
    var queue = ReportQueue()
    for id in 1...2 as ClosedRange<Int64> { queue.add(ended(id, String(repeating: "x", count: 300_000))) }
    #expect(queue.nextCall().map(\.id) == [1])
  }

  @Test func ofProgressOnlyTheLatestWaits() {
    var queue = ReportQueue()
    queue.add(ended(9))
    _ = queue.nextCall()
    for bytes in 1...1000 as ClosedRange<Int64> {
      queue.add(progress(1, bytes))
      queue.add(progress(2, bytes))
    }
    _ = queue.finishCall()
    #expect(queue.nextCall() == [progress(1, 1000), progress(2, 1000)])
  }

  @Test func noProgressComesAfterTheEnd() {
    var queue = ReportQueue()
    queue.add(progress(1, 5))
    queue.add(ended(1))
    #expect(queue.nextCall() == [ended(1)])
  }

  @Test func anEndIsOnItsWayUntilItIsSaved() {
    var queue = ReportQueue()
    queue.add(progress(1, 5))
    #expect(!queue.hasEnd(of: 1))
    queue.add(ended(1))
    #expect(queue.hasEnd(of: 1) && !queue.hasEnd(of: 2))
    _ = queue.nextCall()
    #expect(queue.hasEnd(of: 1))
    _ = queue.finishCall()
    #expect(!queue.hasEnd(of: 1))
  }
}
