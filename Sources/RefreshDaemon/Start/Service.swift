import CLinux
import Glibc
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Threads
import Varlink

/// The life of the program: makes the daemon's ports, opens the daemon, and turns the loop.
public enum Service {
  /// Has SIGHUP wait until the daemon watches for it; call it first.
  public static func holdReloads() {
    var reload = sigset_t()
    sigemptyset(&reload)
    sigaddset(&reload, SIGHUP)
    pthread_sigmask(SIG_BLOCK, &reload, nil)
  }

  /// Runs the daemon until it is asked to stop.
  ///
  /// Blocks the calling thread, which becomes the daemon's only thread. Throws if the daemon cannot start; the error is for
  /// standard error and the journal.
  public static func run(_ settings: DaemonSettings) throws(ServiceError) {
    // A write to a closed pipe or socket fails then, and does not end the daemon.
    signal(SIGPIPE, SIG_IGN)
    HeapMemory.makeCompact()
    let loop = try onLoop { () throws(SystemdError) in try EventLoop() }
    let journal = Journal(identifier: "refreshd")
    let flush = try onLoop { () throws(SystemdError) in try JournalFlush(of: journal, on: loop) }
    let (daemon, signals) = try open(settings, loop, DaemonJournal(journal))
    let code = try withExtendedLifetime((daemon, signals, flush)) { () throws(ServiceError) in
      try onLoop { () throws(SystemdError) in try loop.run() }
    }
    guard code == 0 else { throw ServiceError(.software, "cannot continue: the event loop ended with code \(code)") }
  }

  /// Makes the daemon from its parts, and releases the values that only the start needed.
  private static func open(
    _ settings: DaemonSettings, _ loop: EventLoop, _ journal: DaemonJournal
  ) throws(ServiceError) -> (Daemon, [SignalSource]) {
    let moment = Moment.now()
    let configuration = try readConfiguration(settings, Configuration.loadAtStart)
    try StateLock.hold(in: settings.stateDirectory)
    let (store, loaded) = try openStore(settings, moment, configured: Set(configuration.apps.map(\.id)))
    if let damaged = loaded.damaged { journal.setAside(damaged) }
    for (id, problem) in loaded.unreadableTransfers.sorted(by: { $0.key < $1.key }) { journal.forgot(id, problem) }
    for (id, problem) in loaded.unreadablePushes.sorted(by: { $0.key < $1.key }) { journal.forgot(id, problem) }
    do {
      let ports = try ports(settings, loop, store, configuration, journal)
      let daemon = Daemon(ports, loaded, at: moment)
      DescriptorLimit.raise()
      let signals = [
        try loop.onSignal(SIGTERM) { daemon.stop() },
        try loop.onSignal(SIGINT) { daemon.stop() },
        // No caller waits: the journal and the status line report the result.
        try loop.onSignal(SIGHUP) { daemon.reload { _ in } },
      ]
      try daemon.open(loaded, configuration, passed: try PassedDescriptor.claimAll())
      _ = try loop.watchdog()
      return (daemon, signals)
    } catch let error as SocketError where error.code == EADDRINUSE {
      throw ServiceError(.temporary, error.description)
    } catch let error as ServiceError {
      throw error
    } catch {
      throw ServiceError(.cannotCreate, String(describing: error))
    }
  }

  /// The real ports: the event loop, the disk, the launcher and the machine.
  private static func ports(
    _ settings: DaemonSettings, _ loop: EventLoop, _ store: RefreshStore, _ configuration: Configuration,
    _ journal: DaemonJournal
  ) throws -> Ports {
    let tasks = LoopTasks(loop)
    let scheduler = LoopScheduler(loop, tasks)
    let running = RunningProcesses(scheduler, try FingerprintReader(on: loop))
    let chosen = try ChosenLauncher(configuration.launcher, on: loop, settings: settings, for: running)
    return Ports(
      settings: settings, scheduler: scheduler, store: ThreadedStore(store, tasks),
      processes: Processes(chosen.launcher, running), choice: chosen.choice,
      conditions: { ConditionSources(on: loop, settings: .init(of: settings), for: $0) },
      zone: { onZone throws(SystemdError) in try LocalZone(on: loop, onZone: onZone) },
      files: ConfigurationReader(sources: settings.sources, reader: settings.reader, tasks: tasks),
      folders: { InotifyFolders(on: loop, stateDirectory: settings.stateDirectory, for: $0) },
      diskSpace: {
        let reader = DiskSpaceReader()
        return { needs, folder, answer in
          tasks.run({ _ in await reader.fitting(needs, in: folder) }, then: answer)
        }
      },
      forecast: { forecaster, answer in tasks.run({ _ in await forecaster.goOn() }, then: answer) },
      reactor: LoopReactor(loop: loop), journal: journal,
      notify: { notice, line throws(SystemdError) in
        if let notice { try Notify.send(notice, .status(line)) } else { try Notify.send(.status(line)) }
      },
      trimMemory: HeapMemory.giveBack, access: .current(isUserDaemon: settings.isUserDaemon))
  }

  /// Reads the configuration, and returns the number of its apps; throws every mistake.
  public static func check(_ settings: DaemonSettings) throws(ServiceError) -> Int {
    try readConfiguration(settings, Configuration.load).apps.count
  }

  private static func readConfiguration(
    _ settings: DaemonSettings, _ load: (ConfigurationSources, Reader) throws(ConfigurationError) -> Configuration
  ) throws(ServiceError) -> Configuration {
    do throws(ConfigurationError) {
      return try load(settings.sources, settings.reader)
    } catch {
      throw ServiceError(.configuration, error.description)
    }
  }

  private static func openStore(
    _ settings: DaemonSettings, _ moment: Moment, configured: Set<AppID>
  ) throws(ServiceError) -> (RefreshStore, Loaded) {
    let clock = BootClock(bootID: try Machine.bootID(), now: moment.instant, wallOffset: moment.wallOffset)
    do throws(StoreError) {
      return try RefreshStore.open(
        at: settings.storePath, clock: clock, executor: ThreadExecutor(name: "store"), configured: configured)
    } catch {
      throw ServiceError(.cannotCreate, error.description)
    }
  }

  private static func onLoop<Value>(_ body: () throws(SystemdError) -> Value) throws(ServiceError) -> Value {
    do throws(SystemdError) {
      return try body()
    } catch {
      throw ServiceError(.software, error.description)
    }
  }
}

extension ServiceError {
  /// Writes the error to the journal, or to standard error if that is not the journal.
  public func report() {
    for line in description.split(separator: "\n") { DaemonJournal().cannotGoOn(String(line)) }
  }
}

extension ConditionSources.Settings {
  /// Makes the settings: a user's daemon follows its user's idleness, the machine's daemon everybody's.
  fileprivate init(of settings: DaemonSettings) {
    self.init()
    if settings.isUserDaemon { user = getuid() }
  }
}

/// The identity of this machine and this boot.
enum Machine {
  /// The id of the boot, which the kernel makes at each boot (`/proc/sys/kernel/random/boot_id`).
  static func bootID() throws(ServiceError) -> String {
    guard let text = SmallFiles.text(of: "/proc/sys/kernel/random/boot_id") else {
      throw ServiceError(
        .software, "cannot read /proc/sys/kernel/random/boot_id; refreshd needs /proc to tell one boot from another")
    }
    return text
  }

  /// A hash of the machine's id (machine-id(5)), for ``Spread``; of the host's name if there is no id.
  static func spread() -> Spread {
    let name = SmallFiles.text(of: "/etc/machine-id") ?? SmallFiles.text(of: "/proc/sys/kernel/hostname") ?? ""
    return Spread(machine: name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
  }

  /// How many processors are online, and by default how many refreshes may run at once.
  static var processors: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}

/// The limit of open descriptors (getrlimit(2), `RLIMIT_NOFILE`).
///
/// Each connection and each running task needs some. The soft limit is low because of select(2), which the daemon does not
/// use. The daemon raises its own limit, and tasks start with the original limit.
enum DescriptorLimit {
  static var current: rlimit {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }

  /// Raises the soft limit to the hard limit.
  static func raise() {
    var limit = current
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}

/// Keeps the memory of a daemon small that idles for weeks.
enum HeapMemory {
  /// Makes all threads share one compact heap (mallopt(3)); must be called before the first thread starts.
  ///
  /// Otherwise each thread would have its own heap. The configuration's thread makes the apps, which live as long as the
  /// daemon, so that its heap would stay, full of holes.
  static func makeCompact() { linux_malloc_compact() }

  /// Returns free heap to the system (malloc_trim(3)), also between blocks in use.
  static func trim() { linux_malloc_trim() }

  /// Returns memory after a start or a reload, because a daemon then idles for weeks.
  ///
  /// Free heap goes to the system. Code is unmapped (madvise(2), `MADV_DONTNEED`) where it is executable and never written,
  /// so that nothing is lost. The few pages that an idle daemon needs come back from the page cache; the parser, the
  /// migrations and other unused code stay away.
  static func giveBack() {
    trim()
    // All lines are read first: reading takes code that would come back at once.
    for code in mappedCode() { madvise(UnsafeMutableRawPointer(bitPattern: code.start), code.length, MADV_DONTNEED) }
  }

  /// The memory that has code of files, by /proc/self/maps.
  private static func mappedCode() -> [(start: UInt, length: Int)] {
    guard let maps = fopen("/proc/self/maps", "re") else { return [] }
    defer { fclose(maps) }
    var code: [(start: UInt, length: Int)] = []
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(line) }
    while getline(&line, &room, maps) > 0, let line {
      let fields = String(cString: line).split(separator: " ", maxSplits: 2)
      let bounds = fields[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
      guard fields.count == 3, fields[1] == "r-xp", fields[2].contains("/"), bounds.count == 2 else { continue }
      code.append((bounds[0], Int(bounds[1] - bounds[0])))
    }
    return code
  }
}
