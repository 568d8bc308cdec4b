// Failures in a row: the daemon reports a failing app once for each streak.

/// The streak of an app: its refreshes that have failed one after the other.
///
/// Unlike ``AppState/failures``, it counts every failure, whether a retry is worth it or not.
public struct FailureStreak: Hashable, Sendable {
  /// The number of refreshes, 1 or more.
  public var count: Int32
  /// Whether the daemon has reported that the app is failing.
  public var isReported = false

  /// Makes a streak that is not reported.
  public init(count: Int32) { self.count = count }
}

/// The end of a refresh, for its reports: to the commands of the app's file, its ping and its owner.
public struct EndReport: Hashable, Sendable {
  /// The refresh.
  public var record: RefreshRecord
  /// How many refreshes have failed in a row, including this refresh if it failed.
  public var failures: Int32
  /// Whether this failure makes the app a failing app, by ``Policy/failuresBeforeNotice``.
  public var isFailing: Bool
}

extension Engine {
  /// Counts the end of a refresh, and has it reported if the file asks for that or the app is failing.
  ///
  /// A stopped refresh counts as neither success nor failure, unless its deadline stopped it.
  mutating func noteEnd(_ record: RefreshRecord, _ turn: inout Turn) {
    let id = record.app
    guard let index = apps.index(of: id), let policy = apps[index].policy, !record.isUnfinished else { return }
    let before = apps[index].state.streak
    var report = EndReport(record: record, failures: before?.count ?? 0, isFailing: false)
    if record.outcome.isFresh {
      apps[index].state.streak = nil
    } else {
      var streak = before ?? FailureStreak(count: 0)
      if streak.count < .max { streak.count += 1 }
      report.failures = streak.count
      report.isFailing = !streak.isReported && policy.failuresBeforeNotice.map { $0 <= streak.count } ?? false
      streak.isReported = streak.isReported || report.isFailing
      apps[index].state.streak = streak
    }
    guard policy.reportsEnds || report.isFailing else { return }
    turn.decision.effects.append(.reportEnd(report, id))
  }
}

extension RefreshRecord {
  /// Whether a stop other than the deadline ended a task.
  fileprivate var isUnfinished: Bool {
    tasks.contains { task in
      guard case .failed(.stopped(let reason)) = task.outcome else { return task.isCutShort }
      return reason != .deadline
    }
  }
}
