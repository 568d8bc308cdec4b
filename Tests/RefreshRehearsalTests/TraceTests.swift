import RefreshEngine
import Testing

@testable import RefreshRehearsal

/// Traces are read as `freshness.py` writes them, and measured as it measures.
@Suite struct TraceTests {
  static func trace(_ lines: String...) throws(TraceError) -> Trace {
    try Trace(text: [UInt8](lines.joined(separator: "\n").utf8))
  }

  static let app = #"{"app": "org.example.app000", "updates": [100.5, 30], "opens": [200]}"#

  @Test func `A trace has its apps, and their moments in order`() throws {
    let trace = try Self.trace(#"{"apps": 1, "days": 3, "warm": 1, "seed": 1, "regime": false}"#, Self.app, "")
    #expect(trace.days == 3)
    #expect(trace.warmUp == 1)
    #expect(trace.apps.map(\.id) == [AppID("org.example.app000")])
    #expect(trace.apps[0].updates == [30, 100.5])
    #expect(trace.apps[0].openings == [200])
  }

  @Test(arguments: [
    (["{}"], "line 1: cannot read it; write for example {\"days\": 42, \"warm\": 14}"),
    ([#"{"days": 0}"#], "line 1: cannot use these days; write 1 to 3660 days, fewer of them warm"),
    (
      [#"{"days": 3}"#, #"{"app": "todo", "updates": [], "opens": []}"#],
      "line 2: cannot use \"todo\" as an app id; write an id like org.example.todo"
    ),
    (
      [#"{"days": 3}"#, #"{"app": "a.b", "updates": [], "opens": [], "fails": [100]}"#],
      "line 2: cannot use \"fails\" alone; write its first and its last minute"
    ),
    (
      [#"{"days": 3}"#, #"{"app": "a.b", "updates": [4321], "opens": []}"#],
      "line 2: cannot use a moment outside the trace's days; write minutes"
    ),
  ]) func `A mistake is told with its line`(lines: [String], message: String) {
    let error = #expect(throws: TraceError.self) { try Trace(text: [UInt8](lines.joined(separator: "\n").utf8)) }
    #expect(error?.description == message)
  }

  @Test func `An opening meets the age since the first update that was missed`() throws {
    let trace = try Self.trace(
      #"{"days": 1}"#, #"{"app": "a.b", "updates": [10, 20, 300], "opens": [50, 100, 400]}"#)
    let id = try #require(AppID("a.b"))
    // The refresh at 60 finds nothing, that at 310 the update of 300.
    let freshness = Freshness(Rehearsal.Schedule(refreshes: [id: [60, 310]], wakes: [60, 310]), on: trace)
    #expect(freshness.refreshesPerAppAndDay == 2)
    #expect(freshness.wakesPerDay == 2)
    #expect(freshness.waste == 0.5)
    #expect(freshness.openings == 3)
    #expect(freshness.fresh == 2.0 / 3)
    #expect(freshness.age == 40.0 / 3)
  }

  @Test func `A refresh that fails brings nothing`() throws {
    let trace = try Self.trace(
      #"{"days": 1}"#, #"{"app": "a.b", "updates": [10], "opens": [100], "fails": [50, 70]}"#)
    let id = try #require(AppID("a.b"))
    let failed = Freshness(Rehearsal.Schedule(refreshes: [id: [60]], wakes: [60]), on: trace)
    #expect(failed.age == 90)
    let later = Freshness(Rehearsal.Schedule(refreshes: [id: [60, 80]], wakes: [60, 80]), on: trace)
    #expect(later.age == 0)
  }

  @Test func `The recorded past is a trace with an update between the syncs that tell of it`() {
    let id = AppID("a.b")
    let past = id.map {
      RecordedPast(
        app: $0, syncs: [.init(at: 300, foundNew: true), .init(at: 100, foundNew: false)], openings: [250])
    }
    let trace = Trace(recalling: past.map { [$0] } ?? [], days: 8, measured: 7, until: 8 * 1440)
    #expect(trace.warmUp == 1)
    #expect(trace.apps.map(\.updates) == [[200]])
    #expect(trace.apps.map(\.openings) == [[250]])
  }

  @Test func `A past of minutes is measured as minutes, not as a day`() throws {
    let id = try #require(AppID("a.b"))
    let past = RecordedPast(app: id, syncs: [.init(at: 603, foundNew: true)], openings: [])
    let trace = Trace(recalling: [past], days: 1, measured: 7, until: 640)
    #expect(trace.measured == 603...640)
    let result = Freshness(Rehearsal.Schedule(refreshes: [id: [610, 630]], wakes: [610, 630]), on: trace)
    #expect(result.minutes == 37)
    #expect(abs(result.wakesPerDay - 2 * 1440 / 37) < 0.01)
    let schedule = Rehearsal.run(trace, Rehearsal.Policies())
    #expect(schedule.refreshes[id, default: []].allSatisfy { $0 <= 640 })
  }

  @Test func `Of a long past the last days are measured, to the minute`() throws {
    let id = try #require(AppID("a.b"))
    let past = RecordedPast(app: id, syncs: [.init(at: 10, foundNew: true)], openings: [])
    let trace = Trace(recalling: [past], days: 20, measured: 7, until: 19.5 * 1440)
    #expect(trace.measured == 12.5 * 1440...19.5 * 1440)
  }
}
