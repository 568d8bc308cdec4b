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
  private(set) var now: Int64 = 86_400_000_000
  var wallOffset = Duration.seconds(1_700_000_000)
  private(set) var life: DaemonLife?
  var processes = SimulatedProcesses()
  private(set) var apps: [SimulatedApp]
  /// The network as it is; nil while nobody knows.
  var network: Network? = Network()
  var isOnBattery = false
  /// Since when the daemon knows that there is no network.
  var offlineSince: (at: Int64, excused: Int64)?
  private(set) var isHealed = false
  /// For how long in all nothing could be expected of the daemon: it was away or asleep.
  private(set) var excused: Int64 = 0
  private(set) var trace: [String] = []
  private(set) lazy var book = SimulationBook(self)
  private(set) lazy var disk = SimulatedDisk(self, path: "\(directory.path)/refreshd.sqlite")
  private let directory: SimulationDirectory
  private let settings: DaemonSettings
  private var agenda: [(at: Int64, work: () -> Void)] = []
  private var isAsleep = false
  var wishes = 0

  var instant: Instant { Instant(microseconds: now) }

  init(seed: UInt64, fault: DaemonFault? = nil) throws {
    self.fault = fault
    chance = Chance(seed: seed)
    outlives = chance.happens(50)
    var apps: [SimulatedApp] = []
    for number in 0..<(3 + chance.number(below: 3)) {
      if let app = SimulatedApp(number, &chance) { apps.append(app) }
    }
    self.apps = apps
    directory = try SimulationDirectory()
    settings = try DaemonSettings(
      arguments: ["refreshd", "--config", directory.path, "--state", directory.path, "--socket", "/nowhere/socket"],
      environment: [])
    try directory.write("refreshd.toml", "max_concurrent = \(Self.slots)\n")
    for app in apps { try directory.write(app.fileName, app.text) }
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
      book.check()
    }
    if book.violation == nil { advance(to: end) }
  }

  private func advance(to instant: Int64) {
    guard instant > now else { return }
    if life == nil { excused += instant - now }
    now = instant
  }

  /// Has the world do something later; sleep of the machine puts it off.
  func after(_ span: Duration, _ work: @escaping () -> Void) {
    let at = now + max(0, span.inMicroseconds)
    var (low, high) = (0, agenda.count)
    while low < high {
      let middle = (low + high) / 2
      if agenda[middle].at <= at { low = middle + 1 } else { high = middle }
    }
    agenda.insert((at, work), at: low)
  }

  /// Has this life of the daemon, and no later one, hear of something later.
  func later(_ span: Duration, _ work: @escaping () -> Void) {
    guard let life else { return }
    after(span) { [unowned self, number = life.number] in deliver(to: number, work) }
  }

  /// Calls a life of the daemon, unless it is over.
  func deliver(to number: Int, _ work: () -> Void) {
    guard let life, life.isAlive, life.number == number else { return }
    work()
  }

  /// When a timer goes off that the kernel may delay.
  func firing(at instant: Int64, accuracy: Int64) -> Int64 {
    let isRetry = instant - now == 10_000_000 && accuracy == 1_000_000
    if fault == .retriesWithoutPause, isRetry { return now }
    if fault == .callersWaitForDisk, instant - now == Saving.patience.inMicroseconds { return .max }
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

  private func openDaemon() {
    guard life == nil else { return }
    do {
      let loaded = try disk.open()
      note("daemon \(loaded.start) starts")
      book.opened(loaded)
      let (scheduler, launcher, machine) = (SimulatedScheduler(self), SimulatedLauncher(self), SimulatedMachine(self))
      let ports = Ports(
        scheduler: scheduler, store: SimulatedStore(self, disk), launcher: launcher,
        choice: ChosenLauncher.Choice(asked: .spawn, name: "simulated", reason: "a test"), conditions: machine,
        zone: { SimulatedZone(offset: 3600) }, files: SimulatedFiles(self, settings),
        diskSpace: { { needs, _, answer in answer(needs.keys.sorted()) } }, forecast: { _, _ in }, reactor: nil,
        journal: DaemonJournal { _ in }, notify: { _, _ in }, trimMemory: {},
        access: Access(uid: 0, group: nil, bridge: nil))
      let daemon = Daemon(settings, ports, loaded, at: scheduler.now(), spread: Spread(machine: 7))
      let life = DaemonLife(Int(loaded.start), scheduler, launcher, machine, daemon)
      self.life = life
      // This daemon has to ask survivors again, and has its own time for it.
      for process in processes.inOrder {
        processes[process.key]?.termAt = nil
        processes[process.key]?.killAt = nil
        // A task that ended in time while no daemon ran is reported before that.
        processes[process.key]?.deadline = max(now + 5_000_000, process.deadline)
        processes[process.key]?.excusedAtStart = excused
      }
      try daemon.open(loaded, try Configuration.load(from: settings.sources, as: settings.reader))
      fault?.plant(in: life, self)
    } catch {
      book.fail(.daemonOpens, "\(error)")
    }
  }

  /// Takes a daemon away that has crashed or ended, and expects the next.
  private func bury(_ old: DaemonLife) {
    note(old.isAlive ? "daemon has ended" : "daemon has crashed")
    if old.isAlive { book.ended() }
    old.crash()
    life = nil
    offlineSince = nil
    disk.loseDaemon(old)
    book.lost()
    for process in processes.inOrder where chance.happens(outlives ? 10 : 60) { processes[process.key] = nil }
    after(chance.duration(chance.pick([.zero ... .seconds(1), .zero ... .minutes(10)]))) { [unowned self] in
      openDaemon()
    }
  }

  // MARK: - The machine

  /// Has the machine say that it sleeps, and sleep a moment later.
  func suspend(for span: Duration) {
    guard !isAsleep, let life, life.isAlive else { return }
    isAsleep = true
    note("the machine is going to sleep")
    book.sleepBegins()
    life.machine.onSleep(true)
    after(.milliseconds(4_900)) { [unowned self] in
      book.asleep()
      note("asleep for \(span)")
      for process in processes.inOrder {
        processes[process.key]?.hasSlept = true
        processes[process.key]?.endsAt = process.endsAt.map { $0 + span.inMicroseconds }
      }
      for index in agenda.indices { agenda[index].at += span.inMicroseconds }
      (now, excused) = (now + span.inMicroseconds, excused + span.inMicroseconds)
      isAsleep = false
      self.life?.machine.onSleep(false)
    }
  }

  /// Ends all trouble, and has the users of all apps want to be served.
  private func heal() {
    note("healed")
    isHealed = true
    life?.crash(afterCalls: nil)
    disk.mend()
    (network, isOnBattery) = (Network(), false)
    after(.minutes(15)) { [unowned self] in
      guard let daemon = life?.daemon else { return book.fail(.daemonOpens, "no daemon after the heal") }
      life?.machine.report()
      daemon.handle(.paused(nil))
      for app in apps {
        daemon.handle(.disabled(app.id, false))
        daemon.handle(.overridden(app.id, Overrides()))
        for signal in [Signal.login, .launched, .background] { send(signal, of: app.id) }
      }
    }
  }

  /// Has a new file of an app put in force.
  func reload() {
    guard let daemon = life?.daemon, !apps.isEmpty else { return }
    let index = chance.number(below: apps.count)
    guard let next = SimulatedApp(index, &chance) else { return }
    let isWrong = chance.happens(20)
    note("reload of \(next.id)\(isWrong ? " with a mistake" : "")")
    do {
      try directory.write(next.fileName, isWrong ? "interval = [" : next.text)
    } catch {
      book.fail(.daemonOpens, "\(error)")
    }
    daemon.reload { [unowned self] problems in
      if problems.isEmpty == isWrong { book.fail(.daemonOpens, "reload: \(problems)") }
    }
    // A daemon that starts with the mistake would not start.
    if isWrong {
      do { try directory.write(apps[index].fileName, apps[index].text) } catch { book.fail(.daemonOpens, "\(error)") }
    } else {
      apps[index] = next
      if offlineSince != nil { offlineSince = (now, excused) }
    }
  }
}
