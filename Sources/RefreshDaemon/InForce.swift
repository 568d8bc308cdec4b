import RefreshConfig
import RefreshEngine

/// The configuration in force, and what is wrong with the one that was to replace it.
struct InForce {
  /// The bounds for all apps.
  let limits: Limits
  /// The apps, in the order of their ids.
  let apps: [AppConfiguration]
  /// Who says when the owner of an app logs in and out.
  let sessions: SessionSource
  /// Which launcher the daemon is to have from its next start on.
  let launcher: LauncherChoice
  /// What all transfers go by.
  let transfers: TransferSettings
  /// When it came into force, in microseconds of the wall clock.
  let sinceMicroseconds: Int64
  /// The mistakes for which the last reload was refused; empty when it was not.
  var refused: [Problem] = []

  init(_ configuration: Configuration, at moment: Moment) {
    var limits = configuration.limits
    limits.maxConcurrent = limits.maxConcurrent ?? Machine.processors
    self.limits = limits
    apps = configuration.apps
    sessions = configuration.sessions
    launcher = configuration.launcher
    transfers = configuration.transfers
    sinceMicroseconds = moment.instant.wallMicroseconds(at: moment.wallOffset)
  }

  /// The app of an id, found by halves: the list is in order, and a dictionary would cost as much again.
  subscript(id: AppID) -> AppConfiguration? {
    var range = apps.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if apps[middle].id == id { return apps[middle] }
      range = apps[middle].id < id ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return nil
  }

  /// What the engine must know of it.
  var event: Event {
    .configured(limits, Dictionary(uniqueKeysWithValues: apps.map { ($0.id, $0.policy) }))
  }
}
