import Glibc
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd

import struct Simulator.Chance

@testable import RefreshDaemon

/// The real daemon in virtual time, on a machine on which everything goes wrong until it is healed.
///
/// The seed decides everything: two runs of a seed have the same trace.
final class SimulatedWorld {
  /// How many refreshes may run at once.
  static let slots = 2

  let fault: DaemonFault?
  /// Whether tasks go on when the daemon is gone, as the units of a service manager do.
  let outlives: Bool
  var chance: Chance
  /// A second generator for clients, workers and power, so that older seeds keep their traces.
  var dice: Chance
  /// The chance of commands, space and all else beside the refreshes, for the same reason.
  var fate: Chance
  var now: Int64 = 86_400_000_000
  /// The number of this boot of the machine, and when it began.
  var boot = 1
  var bootedAt: Int64 = 0
  /// Wall time less `now`.
  var wallError = Duration.seconds(1_700_000_000)
  private(set) var life: DaemonLife?
  var processes = SimulatedProcesses()
  var apps: [SimulatedApp]
  /// The network as it is; nil while nobody knows.
  var network: Network? = Network()
  var isOnBattery = false
  /// Since when the daemon knows that there is no network.
  var offlineSince: (at: Int64, excused: Int64)?
  var isHealed = false
  /// The total time that does not count against the daemon, because it was absent or asleep.
  var excused: Int64 = 0
  private(set) var trace: [String] = []
  private(set) lazy var book = SimulationBook(self)
  private(set) lazy var disk = SimulatedDisk(self, path: "\(directory.path)/refreshd.sqlite")
  let directory: SimulationDirectory
  private let settings: DaemonSettings
  var agenda: [(at: Int64, work: () -> Void)] = []
  var isAsleep = false
  var isPowerLost = false
  var wishes = 0
  /// The programs that speak to the daemon over its socket.
  let clients = SimulatedClients()
  lazy var workers = SimulatedWorkers(self)
  lazy var commands = SimulatedCommands(self)
  lazy var keepers = SimulatedKeepers(self)
  lazy var sessions = SimulatedSessions(self)
  lazy var space = SimulatedSpace(self)
  var socketPath: String { "\(directory.path)/run/socket" }

  /// The boot clock.
  var instant: Instant { Instant(microseconds: now - bootedAt) }
  /// Wall time less boot time.
  var wallOffset: Duration { wallError + .microseconds(bootedAt) }

  init(seed: UInt64, fault: DaemonFault? = nil) throws {
    self.fault = fault
    chance = Chance(seed: seed)
    dice = Chance(seed: seed &* 0x9e37_79b9_7f4a_7c15)
    fate = Chance(seed: seed &* 0xbf58_476d_1ce4_e5b9 &+ 1)
    outlives = chance.happens(50)
    var apps: [SimulatedApp] = []
    for number in 0..<(3 + chance.number(below: 3)) {
      if let app = SimulatedApp(number, &chance, SimulatedExtras(&fate)) { apps.append(app) }
    }
    self.apps = apps
    directory = try SimulationDirectory()
    settings = try DaemonSettings(
      arguments: [
        "refreshd", "--config", directory.path, "--state", directory.path, "--socket", "\(directory.path)/run/socket",
      ],
      environment: [])
    try directory.write("refreshd.toml", "max_concurrent = \(Self.slots)\nsessions = \"logind\"\n")
    for app in apps { try directory.write(app.fileName, app.text) }
    try directory.write("apps.d/visitor.toml", SimulatedSessions.file)
    try directory.write("apps.d/guard.toml", SimulatedKeepers.file)
  }

  /// Runs two days of trouble and a day and a half of peace, or up to the first broken promise.
  func run() {
    let start = now
    openDaemon()
    beginTrouble()
    run(until: start + Duration.hours(40).inMicroseconds)
    heal()
    run(until: now + Duration.hours(32).inMicroseconds)
    if book.violation == nil { book.finish() }
    life?.crash()
    disk.close()
  }

  // MARK: - Time

  private func run(until end: Int64) {
    while book.violation == nil {
      if let life, !life.isAlive || life.scheduler.hasExited {
        bury(life)
        continue
      }
      if let job = life?.scheduler.nextJob() {
        job()
      } else {
        let timer = life?.scheduler.next ?? .max
        let event = agenda.first?.at ?? .max
        guard min(timer, event) <= end else { break }
        advance(to: min(timer, event))
        if event <= timer { agenda.removeFirst().work() } else { life?.scheduler.fire(at: now) }
      }
      speak()
      book.check()
    }
    if book.violation == nil { advance(to: end) }
  }

  /// Lets programs and daemon read until nothing is left to read.
  private func speak() {
    guard let life else { return }
    let isAlive = { life.isAlive && !life.scheduler.hasExited }
    while life.reactor.turn(while: isAlive) || clients.hear(while: isAlive) {}
  }

  private func advance(to instant: Int64) {
    guard instant > now else { return }
    if life == nil { excused += instant - now }
    now = instant
  }

  /// Schedules work in the world; sleep of the machine delays it.
  func after(_ span: Duration, _ work: @escaping () -> Void) {
    let at = now + max(0, span.inMicroseconds)
    var (low, high) = (0, agenda.count)
    while low < high {
      let middle = (low + high) / 2
      if agenda[middle].at <= at { low = middle + 1 } else { high = middle }
    }
    agenda.insert((at, work), at: low)
  }

  /// Schedules a call of this daemon, and of no later daemon.
  func later(_ span: Duration, _ work: @escaping () -> Void) {
    guard let life else { return }
    after(span) { [unowned self, number = life.number] in deliver(to: number, work) }
  }

  /// Calls a daemon, unless it has ended.
  func deliver(to number: Int, _ work: () -> Void) {
    guard let life, life.isAlive, life.number == number else { return }
    work()
  }

  /// When a timer goes off that the kernel may delay.
  func firing(at bootMicroseconds: Int64, accuracy: Int64) -> Int64 {
    let instant = bootMicroseconds + bootedAt
    let isRetry = instant - now == 10_000_000 && accuracy == 1_000_000
    if fault == .retriesWithoutPause, isRetry { return now }
    let isPatience = instant - now == Saving.patience.inMicroseconds && accuracy == 1000
    if fault == .callersWaitForDisk, isPatience { return .max }
    return instant + chance.duration(.zero ... .microseconds(accuracy)).inMicroseconds
  }

  /// How long the disk takes for a save.
  func saveTime() -> Duration {
    switch disk.weather {
    case .prompt, .full: chance.duration(.microseconds(100) ... .milliseconds(5))
    case .slow: chance.duration(chance.pick([.milliseconds(5) ... .seconds(10), .seconds(10) ... .minutes(5)]))
    case .hanging: .hours(100_000)
    }
  }

  func note(_ text: @autoclosure () -> String) { trace.append("\(now) \(text())") }

  // MARK: - The daemon

  /// Counts a call of a port, and gives the daemon that makes it; nil after its crash.
  func calling() -> DaemonLife? { life.flatMap { $0.call() ? $0 : nil } }

  func openDaemon() {
    guard life == nil else { return }
    do {
      let loaded = try disk.open()
      note("daemon \(loaded.start) starts")
      let (scheduler, machine) = (SimulatedScheduler(self), SimulatedMachine(self))
      let running = RunningProcesses(scheduler, MemoryLooks())
      let launcher = SimulatedLauncher(self, for: running)
      let reactor = SimulatedReactor(isDeaf: fault == .doesNotHearHangUps)
      let folders = SimulatedFolders(self)
      let ports = Ports(
        settings: settings, scheduler: scheduler, store: SimulatedStore(self, disk),
        processes: Processes(launcher, running),
        choice: ChosenLauncher.Choice(asked: .spawn, name: "simulated", reason: "a test"),
        conditions: { machine.report(to: $0) },
        zone: { _ in SimulatedZone(offset: 3600) }, files: SimulatedFiles(self, settings),
        folders: { folders.report(to: $0) },
        diskSpace: { [unowned self] in { [unowned self] needs, _, answer in space.ask(needs, answer) } },
        forecast: { _, _ in }, reactor: reactor,
        journal: DaemonJournal { _ in }, notify: { _, _ in }, trimMemory: {},
        access: Access(uid: getuid(), group: nil, bridge: nil))
      let daemon = Daemon(ports, loaded, at: scheduler.now(), spread: Spread(machine: 7))
      let life = DaemonLife(Int(loaded.start), scheduler, launcher, machine, reactor, folders, daemon)
      self.life = life
      // This daemon has to ask survivors again, and has its own time for it.
      for process in processes.inOrder {
        processes[process.key]?.termAt = nil
        processes[process.key]?.killAt = nil
        // A task that ended in time while no daemon ran is reported before that.
        processes[process.key]?.deadline = max(now + 5_000_000, process.deadline)
        processes[process.key]?.excusedAtStart = excused
        // Another file of the app may be in force, with the shortest grace.
        processes[process.key]?.grace = min(process.grace, 2_000_000)
      }
      try daemon.open(loaded, try sessions.load(settings, by: Configuration.load))
      fault?.plant(in: life, self)
    } catch {
      book.fail(.daemonOpens, "\(error)")
    }
  }

  /// Removes a daemon that has crashed or ended, and schedules the next.
  private func bury(_ old: DaemonLife) {
    note(old.isAlive ? "daemon has ended" : "daemon has crashed")
    if old.isAlive { book.ended() }
    old.crash()
    // Its sockets end with it.
    old.daemon.life.server?.close()
    life = nil
    offlineSince = nil
    clients.loseDaemon()
    workers.loseDaemon()
    commands.loseDaemon()
    keepers.loseDaemon()
    space.loseDaemon()
    if isPowerLost { return boot(after: old) }
    disk.loseDaemon(old)
    book.lost()
    for process in processes.inOrder where chance.happens(outlives ? 10 : 60) { processes[process.key] = nil }
    after(chance.duration(chance.pick([.zero ... .seconds(1), .zero ... .minutes(10)]))) { [unowned self] in
      openDaemon()
    }
  }
}
