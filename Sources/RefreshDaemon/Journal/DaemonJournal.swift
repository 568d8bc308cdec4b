import RefreshConfig
import RefreshEngine
import RefreshStore
import Synchronization
import Systemd

/// Writes the daemon's journal entries, with sentences, fields and ids of the catalogue.
///
/// `journalctl REFRESH_APP=org.example.todo` shows all entries of an app. `REFRESH_ID=12-345` shows the entries of one
/// refresh and the output of its tasks.
struct DaemonJournal: Sendable {
  private let append: @Sendable (JournalEntry) -> Void

  /// Makes a writer to `journal`, within each app's bound; a test gives a closure instead.
  init(_ journal: Journal = Journal(identifier: "refreshd"), append: (@Sendable (JournalEntry) -> Void)? = nil) {
    let allowances = EntryAllowances()
    self.append =
      append ?? { entry in
        for entry in allowances.admitted(entry, at: EventLoop.bootMicroseconds()) { journal.write(entry) }
      }
  }

  func ready(apps: Int, start: UInt32) {
    write("ready: keeping \(apps) \(apps == 1 ? "app" : "apps") fresh (start \(start))", .notice, .daemonReady)
  }

  func starts(by choice: ChosenLauncher.Choice, problem: String?) {
    let reason = [choice.reason, problem].compactMap { $0 }.joined(separator: "; ")
    write("\(choice.name) starts the tasks: \(reason)", .info)
  }

  func keepsLauncher(_ choice: ChosenLauncher.Choice, until next: LauncherChoice) {
    write(
      "launcher = \"\(next.rawValue)\" takes effect at the next start of refreshd; until then \(choice.name) starts the tasks",
      .notice)
  }

  func stopping(refreshing: Int, left: Int) {
    var rest = refreshing == 0 ? "" : "; \(Self.count(refreshing)) to end first"
    if left > 0 { rest += "; \(Self.count(left)) left to the next start" }
    write("stopping\(rest)", .notice, .daemonStopping)
  }

  private static func count(_ refreshes: Int) -> String {
    "\(refreshes) running \(refreshes == 1 ? "refresh" : "refreshes")"
  }

  func tookOver(_ refresh: RefreshID, of app: AppID) {
    write(
      "\(app): refresh \(refresh) goes on; an earlier daemon started it", .info, .refreshTakenOver,
      fields(app, refresh))
  }

  func configured(apps: Int) {
    write("the new configuration is in force: \(apps) \(apps == 1 ? "app" : "apps")", .notice, .configurationInForce)
  }

  func refused(_ problems: [Problem]) {
    for problem in problems { write("\(problem)", .error, .configurationRefused) }
    write("the configuration was not reloaded; the previous one stays in force", .error, .configurationRefused)
  }

  /// Reports the mistakes that hold apps.
  func held(_ problems: [Problem]) {
    for problem in problems { write("\(problem)", .error) }
    guard !problems.isEmpty else { return }
    write(
      "the apps of these files are held; refreshd reads the files again every few minutes, and on refreshctl reload",
      .error)
  }

  func started(_ refresh: RefreshID, of app: AppID, _ trigger: Trigger) {
    write(
      "\(app): refresh \(refresh) started (\(trigger.rawValue))", .info, .refreshStarted,
      fields(app, refresh) + [JournalEntry.Field("REFRESH_TRIGGER", trigger.rawValue)])
  }

  func ended(_ record: RefreshRecord) {
    let took = Seconds(record.startedAt.duration(to: record.endedAt))
    let fields =
      fields(record.app, record.id) + [
        JournalEntry.Field("REFRESH_TRIGGER", record.trigger.rawValue),
        JournalEntry.Field("REFRESH_OUTCOME", record.outcome.kind.rawValue),
      ]
    if record.trigger == .reported {
      let text = record.outcome == .newData ? "new data" : "no data"
      return write("\(record.app): it has synced by itself: \(text)", .info, .refreshFinished, fields)
    }
    let what = "\(record.app): refresh \(record.id)"
    guard case .failed = record.outcome else {
      let text = record.outcome == .newData ? "new data" : "no data"
      return write("\(what) finished: \(text), \(took)", .info, .refreshFinished, fields)
    }
    let isOurDoing = record.stopReason != nil && record.stopReason != .deadline
    if isOurDoing {
      write("\(what) ended after \(took): \(record.message)", .notice, .refreshStopped, fields)
    } else {
      write("\(what) failed after \(took): \(record.message)", .warning, .refreshFailed, fields)
    }
  }

  func asked(_ refresh: RefreshID, of app: AppID, toEndFor reason: StopReason) {
    guard reason == .deadline else { return }
    write(
      "\(app): refresh \(refresh) is still running at its deadline and is asked to end", .warning, .deadlinePassed,
      fields(app, refresh))
  }

  func expired(_ refresh: RefreshID, of app: AppID, by user: UInt32) {
    write("\(app): user \(user) lets refresh \(refresh) expire", .notice, nil, fields(app, refresh))
  }

  func output(_ line: String, of run: RunID, _ app: AppID, task: String) {
    write(
      "\(app): \(task): \(line)", .info, .taskOutput, fields(app, run) + [JournalEntry.Field("REFRESH_TASK", task)])
  }

  func dataIsStale(of app: AppID, age: Duration, limit: Duration?) {
    let most = limit.map { "; stale_after is \($0.inSystemdForm)" } ?? ""
    write(
      "\(app): its data is \(Duration.seconds(age.components.seconds).inSystemdForm) old\(most)", .warning,
      .dataStale, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func refreshWaits(of app: AppID, for wait: Duration, holds: [String]) {
    write(
      "\(app): its refresh has been due and held for \(Duration.seconds(wait.components.seconds).inSystemdForm) "
        + "(\(holds.joined(separator: ", "))); refreshctl why \(app) says what it waits for", .warning, .refreshWaits,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func isFailing(_ app: AppID, _ failures: Int32, _ message: String) {
    let last = failures == 1 ? "its last refresh failed" : "its last \(failures) refreshes failed"
    write(
      "\(app): \(last): \(message); refreshctl history \(app) says more", .warning, .appFailing,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func pingFailed(of app: AppID, _ problem: String) {
    write(
      "\(app): cannot ping: \(problem); its refreshes go on", .warning, nil,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func pingsAgain(_ app: AppID) {
    write("\(app): its ping works again", .notice, nil, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func notifyFailed(_ kind: NotifyCommands.Kind, _ app: AppID, _ reason: String) {
    let what =
      switch kind {
      case .staleData: "run on_stale"
      case .heldRefresh: "run on_held"
      case .sessionEnded: "notify the desktop that a session of transfers has ended"
      case .failure: "run on_failure"
      case .newData: "run on_new_data"
      case .success: "run on_success"
      }
    write("\(app): cannot \(what): \(reason)", .warning, nil, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func noticeDropped(of app: AppID, limit: Int) {
    write(
      "\(app): a notice is not shown: its user has had \(limit) within a minute", .notice, nil,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  /// Reports a new phase of an app; from a desktop it shows when somebody looks at the app, and is for debugging only.
  func changedPhase(of app: AppID, to phase: Phase, isSeen: Bool) {
    write(
      "\(app): now \(phase == .loggedOut ? "logged out" : "in the \(phase.rawValue)")", isSeen ? .debug : .info,
      .appPhaseChanged,
      [JournalEntry.Field("REFRESH_APP", app.description), JournalEntry.Field("REFRESH_PHASE", phase.rawValue)])
  }

  func attached(_ process: Int32, to app: AppID) {
    write(
      "\(app): process \(process) has attached to perform its refreshes", .info, .appAttached,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func detached(_ process: Int32, from app: AppID) {
    write(
      "\(app): process \(process) is no longer attached", .info, .appDetached,
      [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  func late(_ process: Int32, of app: AppID, _ refresh: RefreshID) {
    write(
      "\(app): process \(process) did not end refresh \(refresh) in time, and gets no other until it answers",
      .warning, .appLate, fields(app, refresh))
  }

  func cannotWrite(_ problem: StoreError) {
    let effect = problem.code == .unanswered ? "nothing new starts until it answers" : "going on in memory"
    write("\(problem); \(effect)", .error, .storeCannotWrite)
  }

  func stopsUnsaved(_ problem: StoreError) {
    write("stopping without the last changes: \(problem)", .error)
  }

  func stuck(_ refresh: RefreshID, of app: AppID, _ processes: [Int32]) {
    let numbers = processes.map(String.init).joined(separator: ", ")
    let which = processes.isEmpty ? "a process" : "\(processes.count == 1 ? "process" : "processes") \(numbers)"
    write(
      "\(app): \(which) of refresh \(refresh) \(processes.count > 1 ? "are" : "is") blocked in the kernel and cannot be killed. "
        + "Other apps can use its slot; this app waits until the refresh has ended.", .error, nil,
      fields(app, refresh))
  }

  func cannotRead(_ problem: StoreError) { write("\(problem)", .error) }

  func setAside(_ problem: StoreError) { write("\(problem)", .error) }

  func cannotGoOn(_ reason: String) { write(reason, .error) }

  func writesAgain() {
    write("the store can be written again, and everything that waited is saved", .notice, .storeWritesAgain)
  }

  func cannotNotify(_ error: SystemdError) { write("\(error)", .warning) }

  func leavesWithoutClosing(_ error: SystemdError) {
    write("the daemon ends without waiting for the store to close: \(error)", .error)
  }

  func cannotWatch(_ folder: WatchedFolder, _ problem: String) {
    write(
      "\(folder.app): changes in \(folder.name) may be missed: \(problem)", .notice, nil,
      [JournalEntry.Field("REFRESH_APP", folder.app.description)])
  }

  func watchesAgain(_ folder: WatchedFolder) {
    write(
      "\(folder.app): \(folder.name) is now watched completely", .notice, nil,
      [JournalEntry.Field("REFRESH_APP", folder.app.description)])
  }

  func cannotWatch(_ error: SystemdError) { write("cannot watch the machine's conditions: \(error)", .error) }

  func cannotStart(_ refresh: RefreshID, of app: AppID) {
    write("\(app): cannot start refresh \(refresh): its configuration is gone", .error, nil, fields(app, refresh))
  }

  private func fields(_ app: AppID, _ refresh: RefreshID) -> [JournalEntry.Field] { fields(app, refresh.run) }

  private func fields(_ app: AppID, _ run: RunID) -> [JournalEntry.Field] {
    [JournalEntry.Field("REFRESH_APP", app.description), JournalEntry.Field("REFRESH_ID", run.description)]
  }

  func write(
    _ message: String, _ priority: JournalEntry.Priority, _ id: MessageID? = nil, _ fields: [JournalEntry.Field] = []
  ) {
    append(JournalEntry(message, priority: priority, messageID: id?.rawValue, fields: fields))
  }
}

/// A duration for a sentence: `7 ms`, `24.1 s`.
private struct Seconds: CustomStringConvertible {
  let description: String

  init(_ duration: Duration) {
    guard duration >= .seconds(1) else {
      description = "\(duration.inMicroseconds / 1000) ms"
      return
    }
    let tenths = (duration.inMicroseconds + 50_000) / 100_000
    description = "\(tenths / 10).\(tenths % 10) s"
  }
}

extension RefreshRecord {
  /// The cause of a failure with the task's message; for another outcome the message alone, which may be empty.
  var message: String {
    let said = tasks.first { $0.outcome == outcome }?.message ?? ""
    guard case .failed(let cause) = outcome else { return said }
    let text = cause.text(detail: tasks.lazy.compactMap(\.stopDetail).first)
    // The text of what stopped a task already contains the message.
    return said.isEmpty || said == text || text != cause.text ? text : "\(text) (\(said))"
  }
}

/// Bounds the journal entries about each app: a program may cause entries without end, by signals or pushes.
///
/// Without a bound one user could fill the journal, or use up the rate that journald allows the daemon, so that entries
/// about other users' apps would be missing. The output of tasks has its own bound (``OutputMeters``).
final class EntryAllowances: Sendable {
  private struct EntryCount {
    var allowance = OutputAllowance()
    var dropped = 0
  }

  private struct AppAllowances {
    var apps: [String: EntryCount] = [:]
    /// How many apps are remembered before idle apps are forgotten: twice as many as remained the last time.
    var bound = least
  }

  private static let least = 64

  private let table = Mutex(AppAllowances())

  /// Gives the entries to write for an entry, within the bound of its app.
  ///
  /// An entry beyond the bound is dropped. A note is written when the bound is reached, and before the first entry for
  /// which there is room again. `now` is the boot clock, in microseconds.
  func admitted(_ entry: JournalEntry, at now: Int64) -> [JournalEntry] {
    guard let app = entry.fields.first(where: { $0.name == "REFRESH_APP" })?.value,
      entry.messageID != MessageID.taskOutput.rawValue
    else { return [entry] }
    return table.withLock { table in
      if table.apps[app] == nil, table.apps.count >= table.bound {
        table.apps = table.apps.filter { $1.dropped > 0 || !$1.allowance.wasFull(at: now) }
        table.bound = max(Self.least, 2 * table.apps.count)
      }
      var known = table.apps[app, default: EntryCount()]
      defer { table.apps[app] = known }
      let wasSpent = known.allowance.isSpent
      guard known.allowance.admits(entry.message.utf8.count, at: now) else {
        known.dropped += 1
        return wasSpent
          ? []
          : [note("\(app): further entries about it are dropped: an app may have \(OutputAllowance.rule)", of: app)]
      }
      guard known.dropped > 0 else { return [entry] }
      defer { known.dropped = 0 }
      return [
        note(
          "\(app): \(known.dropped) entries about it were dropped: an app may have \(OutputAllowance.rule)", of: app),
        entry,
      ]
    }
  }

  private func note(_ text: String, of app: String) -> JournalEntry {
    JournalEntry(text, priority: .warning, fields: [JournalEntry.Field("REFRESH_APP", app)])
  }
}

extension OutputAllowance {
  /// Whether the app need not be remembered.
  fileprivate func wasFull(at now: Int64) -> Bool {
    var allowance = self
    return allowance.isFull(at: now)
  }
}
