import RefreshConfig
import RefreshEngine
import Systemd

@testable import RefreshDaemon

/// A process of a simulated task.
struct SimulatedProcess {
  let key: ProcessKey
  let app: AppID
  let startedAt: Int64
  var deadline: Int64
  var grace: Int64
  let token: String?
  /// The time at which the process ends by itself; nil for never.
  var endsAt: Int64?
  var exit: TaskEnd.Exit
  /// How long the process continues after SIGTERM; nil if it ignores the signal.
  var endsAfterTerm: Int64?
  var termAt: Int64?
  var killAt: Int64?
  /// The time that does not count against the daemon, as it was before the start and before SIGTERM.
  var excusedAtStart: Int64
  var excusedAtTerm: Int64 = 0
  var hasSlept = false
  /// Whether it waits in the kernel, so that no signal ends it.
  var isImmortal = false
}

/// The processes of all tasks, which may outlive a daemon.
struct SimulatedProcesses {
  private(set) var live: [ProcessKey: SimulatedProcess] = [:]
  /// The ends that the service manager keeps for the next daemon, and the reports of tasks.
  var keptEnds: [ProcessKey: TaskEnd.Exit] = [:]
  var keptReports: [ProcessKey: TaskCompletion] = [:]

  subscript(key: ProcessKey) -> SimulatedProcess? {
    get { live[key] }
    set { live[key] = newValue }
  }

  var inOrder: [SimulatedProcess] { live.values.sorted { $0.key.description < $1.key.description } }
}

/// A launcher whose tasks fail to start, overrun, ignore signals, report twice and outlive their daemon.
final class SimulatedLauncher: Launcher {
  let problem: String? = nil
  private unowned let world: SimulatedWorld
  /// The tasks of an earlier daemon that this launcher has adopted.
  private var adopted: Set<ProcessKey> = []

  private unowned let owner: any ProcessOwner

  init(_ world: SimulatedWorld, for owner: any ProcessOwner) { (self.world, self.owner) = (world, owner) }

  /// Reports the end of a process.
  func end(_ key: ProcessKey, _ exit: TaskEnd.Exit) {
    let isMistaken = world.fault == .takesNoForYes && world.commands.isQuestion(key)
    owner.ended(key, TaskEnd(exit: isMistaken ? .exited(0) : exit))
  }

  func start(_ launch: TaskLaunch, before: Fingerprint?) {
    guard world.calling() != nil else { return }
    if SimulatedWorkers.isWorker(launch) { return world.workers.start(launch) }
    if let room = SimulatedCommands.Room(launch) { return world.commands.start(launch, room) }
    world.note("start \(launch.key) of \(launch.app)")
    for _ in 0..<(world.fault == .startsTwice ? 2 : 1) {
      world.book.started(launch)
      world.beginTask(launch)
    }
  }

  func warn(_ key: ProcessKey) {}

  func terminate(_ key: ProcessKey) {
    guard world.calling() != nil else { return }
    world.note("terminate \(key)")
    if !world.workers.signal(key, 15), !world.commands.signal(key, 15) { world.terminate(key) }
  }

  func kill(_ key: ProcessKey) {
    guard world.calling() != nil else { return }
    world.note("kill \(key)")
    if world.workers.signal(key, 9) || world.commands.signal(key, 9) { return }
    world.book.killed(key)
    world.kill(key)
  }

  func forget(_ apps: Set<AppID>) {}

  func adopt(_ left: [LeftTask], stored: [PassedDescriptor]) -> [ProcessKey: FoundTask] {
    guard world.outlives else { return [:] }
    var found: [ProcessKey: FoundTask] = [:]
    for key in left.map(\.key).sorted(by: { $0.description < $1.description }) {
      if let process = world.processes[key] {
        found[key] = FoundTask(token: process.token, completion: world.processes.keptReports[key])
        adopted.insert(key)
      } else if let exit = world.processes.keptEnds[key] {
        found[key] = FoundTask(token: nil, completion: world.processes.keptReports[key])
        world.later(.milliseconds(20)) { [unowned world] in world.report(key, exit) }
      }
      world.note("\(found[key] == nil ? "lost" : "found") \(key)")
    }
    return found
  }

  func clean(leftFrom runs: Set<RunID>) {
    world.keepers.clean()
    guard world.fault != .leavesOrphans else { return }
    for process in world.processes.inOrder where !adopted.contains(process.key) {
      world.note("clean \(process.key)")
      world.processes[process.key] = nil
    }
  }

  func keep(_ completion: TaskCompletion, of key: ProcessKey) {
    guard world.calling() != nil else { return }
    world.processes.keptReports[key] = completion
  }

  func release(_ run: RunID) {
    guard world.calling() != nil, !world.workers.ids.contains(run), !world.commands.isCommand(run) else {
      return
    }
    world.note("release \(run)")
    world.book.released(RefreshID(run))
    for key in world.processes.keptEnds.keys where key.run == run { world.processes.keptEnds[key] = nil }
    for key in world.processes.keptReports.keys where key.run == run { world.processes.keptReports[key] = nil }
  }

  func findSurvivors(answer: @escaping (Set<RunID>) -> Void) {
    let staying = world.outlives ? Set(world.processes.live.keys.map(\.run)) : []
    world.later(.milliseconds(5)) { answer(staying) }
  }
}

extension SimulatedWorld {
  func beginTask(_ launch: TaskLaunch) {
    guard isHealed || !chance.happens(5) else {
      later(.milliseconds(1)) { [unowned self] in report(launch.key, .notStarted("no such program")) }
      return
    }
    let limit = launch.timeLimit.inMicroseconds
    var process = SimulatedProcess(
      key: launch.key, app: launch.app, startedAt: now, deadline: now + limit,
      grace: launch.grace.inMicroseconds,
      token: launch.environment.first { $0.hasPrefix("REFRESH_TOKEN=") }.map { String($0.dropFirst(14)) },
      exit: .exited(0), excusedAtStart: excused)
    let kind = isHealed ? 0 : chance.number(below: 20)
    let short = Duration.milliseconds(5) ... .seconds(8)
    let soon = chance.duration(isHealed ? short : chance.pick([short, .seconds(8) ... .seconds(19)])).inMicroseconds
    switch kind {
    case 17: process.endsAt = now + limit + chance.duration(.zero ... .seconds(20)).inMicroseconds
    case 18, 19: process.endsAt = nil
    default: process.endsAt = now + soon
    }
    if !isHealed { process.exit = chance.pick([.exited(0), .exited(0), .exited(100), .exited(1), .exited(75)]) }
    if !chance.happens(25) { process.endsAfterTerm = chance.duration(.zero ... .seconds(2)).inMicroseconds }
    process.isImmortal = outlives && !isHealed && chance.happens(4)
    if process.isImmortal { process.endsAt = now + chance.duration(.minutes(1) ... .hours(5)).inMicroseconds }
    if outlives, !process.isImmortal {
      let bound = now + limit + 1_000_000 + process.grace
      if process.endsAt.map({ $0 > bound }) ?? true { (process.endsAt, process.exit) = (bound, .timedOut) }
    }
    processes[launch.key] = process
    if kind < 4 {
      let outcome: Outcome = chance.pick(
        isHealed ? [.newData] : [.newData, .noData, .failed(.reported("no server"))])
      let times = chance.happens(20) ? 2 : 1
      for _ in 0..<times {
        later(.microseconds(soon / 2)) { [unowned self] in complete(launch.key, outcome) }
      }
    }
    expectEnd(of: launch.key)
  }

  /// A task reports its own outcome, as its call does.
  private func complete(_ key: ProcessKey, _ outcome: Outcome) {
    guard let daemon = life?.daemon, processes[key] != nil, daemon.runner.refreshes[key.refresh] != nil else { return }
    note("report of \(key)")
    let isFirst = daemon.core.engine.outcome(of: key.refresh, task: key.task) == nil
    daemon.core.handle(.completed(key.refresh, task: key.task, outcome, message: ""))
    if isFirst { life?.launcher.keep(TaskCompletion(outcome, message: ""), of: key) }
  }

  func expectEnd(of key: ProcessKey) {
    guard let at = processes[key]?.endsAt else { return }
    after(.microseconds(max(0, at - now))) { [unowned self] in end(key, at: at) }
  }

  private func end(_ key: ProcessKey, at: Int64) {
    // Sleep or a signal may have moved the end.
    guard let process = processes[key], let endsAt = process.endsAt, endsAt <= now else { return }
    processes[key] = nil
    if outlives { processes.keptEnds[key] = process.exit }
    note("end of \(key)")
    report(key, process.exit)
    if !isHealed, chance.happens(3) { later(.seconds(1)) { [unowned self] in report(key, process.exit) } }
  }

  /// Reports the end of a task to the daemon, if there is one.
  func report(_ key: ProcessKey, _ exit: TaskEnd.Exit) {
    guard let life, life.isAlive else { return }
    if fault == .losesEnds, key.run.number.isMultiple(of: 5) { return }
    life.launcher.end(key, exit)
    if fault == .releasesBeforeSave { life.launcher.release(key.run) }
  }

  func terminate(_ key: ProcessKey) {
    guard var process = processes[key] else { return }
    if process.termAt == nil { (process.termAt, process.excusedAtTerm) = (now, excused) }
    if let delay = process.endsAfterTerm, !process.isImmortal, process.endsAt.map({ $0 > now + delay }) ?? true {
      (process.endsAt, process.exit) = (now + delay, .signalled(15))
    }
    processes[key] = process
    expectEnd(of: key)
  }

  func kill(_ key: ProcessKey) {
    guard var process = processes[key] else { return }
    process.killAt = process.killAt ?? now
    let end = now + chance.duration(.zero ... .seconds(1)).inMicroseconds
    if !process.isImmortal, process.endsAt.map({ $0 > end }) ?? true {
      (process.endsAt, process.exit) = (end, .signalled(9))
    }
    processes[key] = process
    expectEnd(of: key)
  }
}
