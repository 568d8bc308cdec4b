import RefreshEngine

extension StoredRefresh {
  /// The line of the history for a refresh that has just ended.
  ///
  /// - Parameter wallOffset: wall time (Unix time) less boot time, at its end.
  public init(_ record: RefreshRecord, wallOffset: Duration) {
    self.init(
      id: record.id, app: record.app, trigger: record.trigger,
      startedWallMicroseconds: (record.startedAt + wallOffset).microseconds,
      duration: record.startedAt.duration(to: record.endedAt), outcome: record.outcome,
      stopReason: record.stopReason, extraCompletions: record.extraCompletions, tasks: record.tasks, push: record.push)
  }
}
