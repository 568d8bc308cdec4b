import Glibc
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

/// The life of the program: makes the parts ready, in the order in which each needs the one before, and turns the loop.
public enum Service {
  /// Runs the daemon until it is told to stop.
  ///
  /// Blocks the calling thread, which becomes the daemon's only one. Throws when the daemon cannot start; what it says
  /// is for standard error and the journal.
  public static func run(_ settings: Settings) throws(ServiceError) {
    // A reader of a pipe or a socket that is gone is an error of that write, not the end of the daemon.
    signal(SIGPIPE, SIG_IGN)
    let loop = try onLoop { () throws(SystemdError) in try EventLoop() }
    let daemon = try prepare(settings, loop)
    let code = try withExtendedLifetime(daemon) { () throws(ServiceError) in
      try onLoop { () throws(SystemdError) in try loop.run() }
    }
    guard code == 0 else { throw ServiceError(.software, "cannot go on: the event loop ended with code \(code)") }
  }

  /// Makes the daemon of its parts.
  ///
  /// What the start alone needed is gone when this returns.
  private static func prepare(_ settings: Settings, _ loop: EventLoop) throws(ServiceError) -> Daemon {
    let moment = Moment.now()
    let configuration = try readConfiguration(settings)
    try StateLock.take(in: settings.stateDirectory)
    let (store, loaded) = try openStore(settings, moment)
    let journal = DaemonJournal()
    if let damaged = loaded.damaged { journal.setAside(damaged) }
    for (id, problem) in loaded.unreadableTransfers.sorted(by: { $0.key < $1.key }) { journal.forgot(id, problem) }
    for (id, problem) in loaded.unreadablePushes.sorted(by: { $0.key < $1.key }) { journal.forgot(id, problem) }
    let parts = Daemon.Parts(
      loop: loop, settings: settings, store: store, loaded: loaded, configuration: configuration,
      reader: ConfigurationReader(
        sources: settings.sources, reader: settings.reader, executor: ThreadExecutor(name: "configuration")),
      journal: journal, moment: moment)
    return try open(parts)
  }

  /// Reads the configuration and gives back how many apps it has, or every mistake.
  public static func check(_ settings: Settings) throws(ServiceError) -> Int {
    try readConfiguration(settings).apps.count
  }

  private static func readConfiguration(_ settings: Settings) throws(ServiceError) -> Configuration {
    do throws(ConfigurationError) {
      return try Configuration.load(from: settings.sources, as: settings.reader)
    } catch {
      throw ServiceError(.configuration, error.description)
    }
  }

  private static func openStore(
    _ settings: Settings, _ moment: Moment
  ) throws(ServiceError) -> (RefreshStore, Loaded) {
    let clock = BootClock(bootID: try Machine.bootID(), now: moment.instant, wallOffset: moment.wallOffset)
    do throws(StoreError) {
      return try RefreshStore.open(
        at: "\(settings.stateDirectory)/refreshd.sqlite", clock: clock, executor: ThreadExecutor(name: "store"))
    } catch {
      throw ServiceError(.cannotCreate, error.description)
    }
  }

  private static func open(_ parts: Daemon.Parts) throws(ServiceError) -> Daemon {
    do {
      let daemon = try Daemon(parts)
      DescriptorLimit.raise()
      let leftBehind = parts.loaded.states.compactMapValues(\.running)
      try daemon.assumeIsolated { try $0.open(leftBehind: leftBehind) }
      return daemon
    } catch let error as SocketError where error.code == EADDRINUSE {
      throw ServiceError(.temporary, error.description)
    } catch let error as ServiceError {
      throw error
    } catch {
      throw ServiceError(.cannotCreate, String(describing: error))
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
