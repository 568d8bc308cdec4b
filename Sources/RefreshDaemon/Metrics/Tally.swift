import RefreshAPI
import RefreshEngine

/// The daemon's counters since its start, for the metrics.
///
/// Values that the engine knows at any time, such as the number of held apps, are not counted here.
final class Tally {
  /// The labels of a counter of refreshes.
  struct Kind: Hashable {
    var outcome: Wire.Outcome
    var trigger: Trigger

    /// All kinds, so that every counter begins at 0.
    static let all = Wire.Outcome.allCases.flatMap { outcome in
      Trigger.allCases.map { Kind(outcome: outcome, trigger: $0) }
    }
  }

  /// The end of a push: refused when it came, dropped from the queue, or delivered.
  enum PushEnd: String, CaseIterable {
    case refused, dropped, delivered
  }

  /// The upper bounds of the histogram of durations, with their text in seconds: up to the longest deadline (10 min).
  static let bounds: [(microseconds: Int64, spelling: String)] = [
    (100_000, "0.1"), (300_000, "0.3"), (1_000_000, "1.0"), (3_000_000, "3.0"), (10_000_000, "10.0"),
    (30_000_000, "30.0"), (100_000_000, "100.0"), (300_000_000, "300.0"), (600_000_000, "600.0"),
  ]

  private(set) var refreshes: [Kind: Int] = [:]
  /// The ended refreshes of each app.
  private(set) var refreshesOfApp: [AppID: Int] = [:]
  /// How many refreshes ran.
  private(set) var ran = 0
  /// How many of them took no longer than each bound.
  private(set) var within = [Int](repeating: 0, count: bounds.count)
  /// The sum of their durations, microseconds.
  private(set) var duration: Int64 = 0
  /// The sum of their tasks' user and system times, microseconds.
  private(set) var cpu: Int64 = 0
  private(set) var transfers: [TransferResult: Int] = [:]
  /// The accepted pushes, by the answer to their senders.
  private(set) var accepted: [Wire.PushFate: Int] = [:]
  /// The pushes that have ended; most of them were accepted before.
  private(set) var ends: [PushEnd: Int] = [:]
  private(set) var moved: Int64 = 0
  /// How often the wake timer has gone off.
  private(set) var wakes = 0
  private(set) var writes = 0
  /// The duration of all writes, microseconds.
  private(set) var writing: Int64 = 0
  private(set) var failedWrites = 0

  func note(_ record: RefreshRecord) {
    let took = record.startedAt.duration(to: record.endedAt).inMicroseconds
    refreshes[Kind(outcome: Wire.Outcome(record.outcome), trigger: record.trigger), default: 0] += 1
    refreshesOfApp[record.app, default: 0] += 1
    // A sync by the app itself was not measured.
    guard record.trigger != .reported else { return }
    ran += 1
    duration += took
    cpu += record.tasks.reduce(0) { $0 + $1.cpu.inMicroseconds }
    for (index, bound) in Self.bounds.enumerated() where took <= bound.microseconds { within[index] += 1 }
  }

  /// Forgets the count of an app that was erased.
  func forget(_ app: AppID) { refreshesOfApp[app] = nil }

  /// Counts a wake of the daemon by its timer.
  func noteWake() { wakes += 1 }

  func note(_ fate: Wire.PushFate) { accepted[fate, default: 0] += 1 }

  func note(_ end: PushEnd) { ends[end, default: 0] += 1 }

  func note(_ result: TransferResult) { transfers[result, default: 0] += 1 }

  /// Counts the bytes that a worker moved.
  func note(moved bytes: Int64) {
    // A worker may claim any number of bytes, any number of times.
    let (sum, isTooMuch) = moved.addingReportingOverflow(max(0, bytes))
    moved = isTooMuch ? .max : sum
  }

  /// Counts a write of the store, from the request to the answer.
  func noteWrite(took duration: Duration, failed: Bool) {
    writes += 1
    writing += duration.inMicroseconds
    if failed { failedWrites += 1 }
  }
}
