import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd

/// The keepers of guards: `refresh-worker keep` as the app's owner, one process for each kept unit.
///
/// A keeper lives for as long as its unit is kept. It returns the unit after SIGTERM, or when the daemon is gone for good.
final class GuardKeepers: ProcessOwner {
  /// How long a keeper may take to return its unit; the manager may be away for a part of it.
  private static let grace = Duration.seconds(15)
  /// The most characters of a keeper's text.
  private static let longestText = 200

  private struct Running {
    let run: Run
    let unit: GuardedUnit
    let owner: UInt32
    let token: String
    let timer: any WakeTimer
    var ending = TerminationSequence(grace: GuardKeepers.grace)
    var lastLine = ""
  }

  private unowned let core: DaemonCore
  private let processes: Processes
  private let journal: DaemonJournal
  private let environment: TaskEnvironment
  private var running: [ProcessKey: Running] = [:]

  init(_ core: DaemonCore, _ ports: Ports, _ environment: TaskEnvironment) {
    (self.core, self.environment) = (core, environment)
    (processes, journal) = (ports.processes, ports.journal)
  }

  /// Whether no keeper is left, except keepers that outlived SIGKILL.
  var isEmpty: Bool { running.values.allSatisfy(\.ending.isGivenUp) }

  /// Starts a keeper; `isKept` says whether an earlier keeper left the unit stopped or frozen.
  func keep(_ run: Run, _ unit: GuardedUnit, isKept: Bool, of app: AppConfiguration?) {
    start(run, unit, isKept: isKept, givesBack: false, of: app)
  }

  /// Has a keeper return its unit and end; starts a keeper for that if none runs.
  func giveBack(_ run: Run, _ unit: GuardedUnit, of app: AppConfiguration?) {
    let key = ProcessKey(run)
    if running[key] == nil { return start(run, unit, isKept: true, givesBack: true, of: app) }
    end(key)
  }

  private func start(
    _ run: Run, _ unit: GuardedUnit, isKept: Bool, givesBack: Bool, of app: AppConfiguration?
  ) {
    guard let app, !core.engine.isStopping else {
      return core.handle(.keeperEnded(run, .failed("its keeper can no longer be started")))
    }
    let key = ProcessKey(run)
    let token = Token.make()
    let command = Command(
      arguments: [environment.worker, Wire.WorkerCommand.keep.rawValue], directory: "/")
    do {
      let timer = try core.scheduler.timer { [unowned self] in takeStep(key) }
      let order = try Wire.KeepOrder(
        unit: unit.name, manager: unit.user == nil ? .system : .user, means: Wire.GuardMeans(unit.means),
        isKept: isKept, givesBack: givesBack
      ).jsonBytes()
      running[key] = Running(run: run, unit: unit, owner: app.owner.uid, token: token, timer: timer)
      processes.start(
        TaskLaunch(
          key: key, app: app.id, command: command, owner: app.owner,
          environment: environment.variables(ofWorker: command, app: app, run: run, token: token),
          description: "\(app.name): guard of \(unit.name)", timeLimit: .longest, grace: Self.grace,
          confinement: WorkerConfinement(writes: .folders([])), input: order, changedPath: nil),
        for: self)
      // A process that only returns a unit is bounded from its start.
      if givesBack { core.scheduler.arm(timer, after: Self.grace, accuracy: 1000) }
    } catch {
      core.handle(.keeperEnded(run, .failed("\(error)")))
    }
  }

  /// Asks a keeper to end, so that it returns its unit.
  private func end(_ key: ProcessKey) {
    if running[key]?.ending.isBegun == false { takeStep(key) }
  }

  /// Takes the next step in the end of a keeper.
  private func takeStep(_ key: ProcessKey) {
    guard var keeper = running[key] else { return }
    let step = keeper.ending.beginOrAdvance(at: core.now)
    running[key] = keeper
    if let step { processes.send(step, to: key) }
    if let wake = keeper.ending.wake { keeper.timer.arm(at: wake.microseconds, accuracy: 1000) }
    if step == .giveUp { core.delegate.leaveIfDone() }
  }

  /// Ends all keepers, because the daemon stops.
  ///
  /// A stopped unit stays stopped while the daemon restarts; every unit stays as it is at a shutdown of the machine.
  /// Otherwise units return.
  func stop(_ occasion: StopOccasion) {
    for (key, keeper) in running {
      let stays = occasion == .shutdown || occasion == .restart && keeper.unit.means == .stop
      if stays { processes.kill(key) } else { end(key) }
    }
  }

  /// Reports a unit that no keeper returns any more, unless a keeper has returned it while no daemon ran.
  func reportLeft(_ unit: GuardedUnit, of app: AppID) {
    processes.findLeft(unit) { [journal] isLeft in
      if isLeft != false { journal.leftUnit(unit, of: app, isCertain: isLeft == true) }
    }
  }

  // MARK: The keeper's words

  /// Applies the report of a keeper by its token; false if the user has no such keeper.
  func noteReport(_ token: String, isKept: Bool, _ text: String, from user: UInt32) -> Bool {
    guard let keeper = running.values.first(where: { $0.token == token && $0.owner == user }) else {
      return false
    }
    let text = OutputLines.message(of: String(text.prefix(Self.longestText)))
    core.handle(.keeperReported(keeper.run, isKept: isKept, text: text))
    journal.guarded(keeper.unit.name, of: keeper.run.app, text, held(keeper.run.app))
    return true
  }

  private func held(_ app: AppID) -> [Hold.Name] {
    core.engine.verdict(on: app, at: core.now).holds.map(\.name)
  }

  func printed(_ line: String, by key: ProcessKey) {
    if !line.allSatisfy(\.isWhitespace) { running[key]?.lastLine = String(line.prefix(Self.longestText)) }
  }

  func ended(_ key: ProcessKey, _ end: TaskEnd) {
    guard let ended = running.removeValue(forKey: key) else { return }
    ended.timer.cancel()
    processes.release(key.run)
    let outcome = Self.outcome(end, ended)
    if case .returned = outcome, core.engine.state(of: ended.run.app)?.keptUnit == nil {
      // It kept nothing, so there is nothing to report.
    } else if !core.engine.isStopping || outcome == .returned(trouble: nil) {
      journal.guardEnded(ended.unit.name, of: ended.run.app, outcome)
    }
    core.handle(.keeperEnded(ended.run, outcome))
    core.delegate.leaveIfDone()
  }

  private static func outcome(_ end: TaskEnd, _ keeper: Running) -> KeeperEnd {
    let said = keeper.lastLine
    guard let trouble = end.trouble(of: "its keeper") else { return .returned(trouble: said.isEmpty ? nil : said) }
    if case .exited = end.exit, !said.isEmpty { return .failed(said) }
    return .failed(trouble)
  }
}

extension DaemonJournal {
  /// Reports the state of a unit that is kept from running.
  fileprivate func guarded(_ unit: String, of app: AppID, _ text: String, _ holds: [Hold.Name]) {
    let reason = holds.isEmpty ? "" : " (\(holds.map(\.rawValue).joined(separator: ", ")))"
    write("\(app): \(unit): \(text)\(reason)", .info, .unitKept, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  fileprivate func guardEnded(_ unit: String, of app: AppID, _ end: KeeperEnd) {
    let (text, priority): (String, JournalEntry.Priority) =
      switch end {
      case .returned(nil): ("runs again", .info)
      case .returned(let trouble?): (trouble, .warning)
      case .failed(let reason): (reason, .warning)
      }
    write("\(app): \(unit): \(text)", priority, .unitReturned, [JournalEntry.Field("REFRESH_APP", app.description)])
  }

  /// Reports a unit that no keeper returns, because no file names it any more.
  ///
  /// `isCertain` is false if nobody can say whether the unit is still stopped or frozen.
  fileprivate func leftUnit(_ unit: GuardedUnit, of app: AppID, isCertain: Bool) {
    let (state, remedy) = unit.means == .freeze ? ("frozen", "thaw") : ("stopped", "start")
    let manager = unit.user == nil ? "" : " --user"
    write(
      "\(app): \(unit) \(isCertain ? "is still" : "may still be") \(state), and no file guards it any more; run "
        + "systemctl\(manager) \(remedy) \(unit.name)",
      .warning, .unitReturned, [JournalEntry.Field("REFRESH_APP", app.description)])
  }
}
