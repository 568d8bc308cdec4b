@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshRehearsal

/// Builds a trace of the past that the daemon has recorded, for a rehearsal under another configuration.
struct RecordedTrace {
  let trace: Trace
  /// The configuration that the daemon reads.
  let sources: ConfigurationSources
  /// The user that reads the configuration.
  let reader: Reader

  /// The days before the measured ones, from which the engine learns.
  private static let warmUp = 28

  init(_ daemon: DaemonClient, days: Int, now: Int64, calendar: (Int64) -> CalendarTime) throws(Failure) {
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
    // The trace begins on the first recorded day, and on a Monday, so that its weekends are the real ones.
    let moments = recorded.flatMap { $0.openings + $0.refreshes.map(\.startedMicroseconds) }
    let today = calendar(now).day
    let first = max(today - days - Self.warmUp, moments.min().map { calendar($0).day } ?? today)
    let monday = first - ((first + 3) % 7 + 7) % 7
    func minute(_ wall: Int64) -> Double {
      let moment = calendar(wall)
      return Double((moment.day - monday) * 1440 + moment.minuteOfDay) + Double(wall % 60_000_000) / 60e6
    }
    let past = recorded.map { app in
      let syncs = app.refreshes.filter { $0.outcome != .failed || $0.foundNew }.map { refresh in
        RecordedPast.Sync(at: minute(refresh.startedMicroseconds), foundNew: refresh.foundNew)
      }
      return RecordedPast(
        app: app.app, syncs: syncs.filter { $0.at >= 0 }, openings: app.openings.map(minute).filter { $0 >= 0 })
    }
    trace = Trace(recalling: past, days: today - monday + 1, measured: days, until: minute(now))
  }
}
