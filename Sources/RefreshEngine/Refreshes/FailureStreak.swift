// Failures in a row: the daemon reports a failing app once, until a refresh of it does not fail.

/// The refreshes of an app that have failed one after the other.
///
/// Unlike ``AppState/failures``, it counts every failure, whether a retry is worth it or not.
public struct FailureStreak: Hashable, Sendable {
  /// How many they are, 1 or more.
  public var count: Int32
  /// Whether the daemon has reported that the app is failing.
  public var isReported = false

  /// Makes a streak that is not reported.
  public init(count: Int32) { self.count = count }
}

/// The end of a refresh, for those to whom the daemon reports it: the commands of the app's file, its ping, its owner.
public struct EndReport: Hashable, Sendable {
  /// The refresh.
  public var record: RefreshRecord
  /// How many refreshes have failed in a row: with this one if it has failed, else before it.
  public var failures: Int32
  /// Whether this failure makes the app a failing one, by ``Policy/failuresBeforeNotice``.
  public var isFailing: Bool
}

extension Engine {
  /// Counts a refresh that has ended, and has it reported where somebody waits for that.
  ///
  /// A refresh that was stopped is neither a success nor a failure.
  mutating func noteEnd(_ record: RefreshRecord, _ turn: inout Turn) {
    let id = record.app
    guard let policy = apps[id]?.policy, !record.isUnfinished else { return }
    let before = apps[id]?.state.streak
    var report = EndReport(record: record, failures: before?.count ?? 0, isFailing: false)
    if record.outcome.isFresh {
      apps[id]?.state.streak = nil
    } else {
      var streak = before ?? FailureStreak(count: 0)
      if streak.count < .max { streak.count += 1 }
      report.failures = streak.count
      report.isFailing = !streak.isReported && policy.failuresBeforeNotice.map { $0 <= streak.count } ?? false
      streak.isReported = streak.isReported || report.isFailing
      apps[id]?.state.streak = streak
    }
    guard policy.reportsEnds || report.isFailing else { return }
    turn.decision.effects.append(.reportEnd(report, id))
  }
}

extension RefreshRecord {
  /// Whether something other than its deadline stopped it, or a part of it, before its end.
  fileprivate var isUnfinished: Bool {
    tasks.contains { task in
      guard case .failed(.stopped(let reason)) = task.outcome else { return task.isCutShort }
      return reason != .deadline
    }
  }
}
