import RefreshEngine

@testable import RefreshDaemon

/// The commands that run for apps beside their refreshes: they are slow, fail, hang, ignore signals, or do not start.
final class SimulatedCommands {
  /// The purpose of a command.
  enum Room: String {
    case notify, ping, question, keeper

    /// The room of a launch; nil for a task of a refresh, and for a worker.
    init?(_ launch: TaskLaunch) {
      switch launch.command.arguments.last {
      case "on_failure", "on_new_data", "on_success": self = .notify
      case "ping": self = .ping
      case "when": self = .question
      case "keep": self = .keeper
      default: return nil
      }
    }
  }

  private struct Process {
    let app: AppID
    let room: Room
    /// Whether it ignores SIGTERM.
    let isDeaf: Bool
    /// Whether it waits in the kernel, so that no signal ends it.
    let isImmortal: Bool
    /// Whether it was asked to end.
    var isLate = false
  }

  private unowned let world: SimulatedWorld
  /// The rooms of all commands that were ever started, by their runs.
  private var rooms: [RunID: Room] = [:]
  private var running: [ProcessKey: Process] = [:]
  private var stuckUntil: [AppID: Int64] = [:]

  init(_ world: SimulatedWorld) { self.world = world }

  func isCommand(_ id: RunID) -> Bool { rooms[id] != nil }
  func isQuestion(_ key: ProcessKey) -> Bool { rooms[key.run] == .question }

  /// Whether a command of the app that no signal ends has run at an instant or later.
  func wasStuck(_ app: AppID, since instant: Int64) -> Bool {
    running.values.contains { $0.app == app && $0.isImmortal } || stuckUntil[app].map { $0 >= instant } ?? false
  }

  func start(_ launch: TaskLaunch, _ room: Room) {
    let key = launch.key
    world.note("\(room) \(key) of \(launch.app)")
    rooms[key.run] = room
    if room == .keeper { return world.keepers.start(launch) }
    world.book.ends.started(launch, room)
    guard world.isHealed || !world.fate.happens(5) else {
      return world.later(.milliseconds(1)) { [unowned self] in
        report(key, launch.app, room, .notStarted("no such program"))
      }
    }
    let kind = world.isHealed ? 0 : world.fate.number(below: 20)
    running[key] = Process(app: launch.app, room: room, isDeaf: kind == 18, isImmortal: kind == 19)
    let span: ClosedRange<Duration>
    switch kind {
    case 0..<14: span = .milliseconds(5) ... .seconds(3)
    case 14, 15: span = .seconds(3) ... .seconds(40)
    default: span = .minutes(1) ... .hours(1)
    }
    let exit: TaskEnd.Exit = world.isHealed ? .exited(0) : world.fate.pick([.exited(0), .exited(0), .exited(1)])
    world.after(world.fate.duration(span)) { [unowned self] in end(key, exit) }
  }

  /// Sends a signal to a command; false if the process is no command.
  func signal(_ key: ProcessKey, _ signal: Int32) -> Bool {
    if rooms[key.run] == .keeper { world.keepers.signal(key, signal) }
    guard let process = running[key] else { return isCommand(key.run) }
    running[key]?.isLate = true
    guard !process.isImmortal, signal == 9 || !process.isDeaf else { return true }
    world.after(world.fate.duration(.zero ... .seconds(1))) { [unowned self] in end(key, .signalled(signal)) }
    return true
  }

  /// The daemon is gone, and its commands with it.
  func loseDaemon() { running = [:] }

  private func end(_ key: ProcessKey, _ exit: TaskEnd.Exit) {
    guard let process = running.removeValue(forKey: key) else { return }
    world.note("end of \(process.room) \(key)")
    if process.isImmortal { stuckUntil[process.app] = world.now }
    report(key, process.app, process.room, exit, isLate: process.isLate)
  }

  private func report(
    _ key: ProcessKey, _ app: AppID, _ room: Room, _ exit: TaskEnd.Exit, isLate: Bool = false
  ) {
    guard let life = world.life, life.isAlive else { return }
    if room == .question { world.book.questions.answered(app, isYes: exit == .exited(0) && !isLate) }
    life.launcher.end(key, exit)
  }
}
