@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshRehearsal

/// The past as the daemon has recorded it, to be rehearsed under another configuration (FEATURES H6).
struct RecordedPast {
  /// The past as a trace.
  let trace: Trace
  /// The configuration that the daemon reads.
  let sources: ConfigurationSources
  /// Who reads it.
  let reader: Reader

  /// Days before those that are measured, for the engine to learn from.
  private static let warmUp = 28

  /// Asks the daemon.
  init(_ daemon: Daemon, days: Int, now: Int64, calendar: (Int64) -> CalendarTime) throws(Failure) {
    let status = try daemon.call(ManagerInterface.Status.self, .init()).status
    reader = Reader(uid: status.isUserDaemon ? geteuid() : 0, isUserDaemon: status.isUserDaemon)
    let directories = status.configuration.directories
    if directories.count == 1, let only = directories.first {
      sources = .directory(only)
    } else if status.isUserDaemon {
      sources = .user(home: environmentVariable("HOME") ?? "/")
    } else {
      sources = .system
    }
    var recorded: [(app: AppID, refreshes: [Wire.Refresh], openings: [Int64])] = []
    for app in try daemon.call(ManagerInterface.List.self, .init()).apps {
      guard let id = AppID(app.id) else { continue }
      let refreshes = try daemon.call(ManagerInterface.History.self, .init(app: app.id)).refreshes
      let openings = try daemon.call(ManagerInterface.Openings.self, .init(app: app.id)).openingsMicroseconds
      recorded.append((id, refreshes, openings))
    }
    // No further back than there is anything to know, and from a Monday on, so that weekends are where they were.
    let moments = recorded.flatMap { $0.openings + $0.refreshes.map(\.startedMicroseconds) }
    let today = calendar(now).day
    let first = max(today - days - Self.warmUp, moments.min().map { calendar($0).day } ?? today)
    let monday = first - ((first + 3) % 7 + 7) % 7
    func minute(_ wall: Int64) -> Double {
      let moment = calendar(wall)
      return Double((moment.day - monday) * 1440 + moment.minuteOfDay) + Double(wall % 60_000_000) / 60e6
    }
    let past = recorded.map { app in
      let syncs = app.refreshes.filter { $0.outcome != .failed }.map { refresh in
        RecordedPast.Sync(at: minute(refresh.startedMicroseconds), foundNew: refresh.outcome == .newData)
      }
      return RecordedPast(
        app: app.app, syncs: syncs.filter { $0.at >= 0 }, openings: app.openings.map(minute).filter { $0 >= 0 })
    }
    trace = Trace(recalling: past, days: today - monday + 1, measured: days)
  }
}
