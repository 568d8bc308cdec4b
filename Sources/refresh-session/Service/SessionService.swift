import Glibc
import RefreshAPI
import Systemd

/// The program's main loop: reports the session's desktop to the daemons that follow it.
final class SessionService {
  private let loop: EventLoop
  private let journal = Journal(identifier: "refresh-session")
  private let settings: SessionSettings
  private var signals: [SignalSource] = []
  private var timer: TimerSource?
  private var sources: SessionSources?
  private var daemons: [DaemonFollower] = []
  private let pauser: AppPauser
  private var followed: Set<String> = []
  private var isLooking = false

  init(_ settings: SessionSettings) throws(ServiceError) {
    self.settings = settings
    do throws(SystemdError) {
      loop = try EventLoop()
      pauser = AppPauser(on: loop, journal)
      // A write to a closed connection must return an error.
      signal(SIGPIPE, SIG_IGN)
      for number in [SIGTERM, SIGINT] { signals.append(try loop.onSignal(number) { [unowned loop] in loop.exit(0) }) }
      timer = try loop.timer { [unowned self] in lookAgain() }
      sources = try SessionSources(settings, on: loop, journal) { [unowned self] in lookAgain() }
      for socket in settings.sockets {
        let daemon = try DaemonFollower(socket, on: loop, journal) { [unowned self] in lookAgain() }
        daemon.onNotice = { [unowned self] notice in
          sources?.notifier.show(notice) { [unowned self] in pauser.pause(notice.app, by: socket) }
        }
        daemons.append(daemon)
      }
    } catch {
      throw ServiceError(error)
    }
  }

  /// Runs until SIGTERM or SIGINT.
  func run() throws(ServiceError) {
    do throws(SystemdError) {
      _ = try loop.watchdog()
      try Notify.send(.ready)
      lookAgain()
      _ = try loop.run()
      sources?.stop()
      try Notify.send(.stopping)
    } catch {
      throw ServiceError(error)
    }
  }

  /// Reads all sources again, and reports the changes to each daemon.
  private func lookAgain() {
    // A source may call this while the others are being made, or because of this very call.
    guard let sources, !isLooking else { return }
    isLooking = true
    defer { isLooking = false }
    let ids = daemons.reduce(into: Set<String>()) { $0.formUnion($1.apps.ids) }
    if ids != followed {
      followed = ids
      sources.follow(ids)
    }
    let (desk, now) = (sources.desk, EventLoop.bootMicroseconds())
    for daemon in daemons where daemon.isConnected {
      let seen = daemon.apps.look(at: desk, now)
      daemon.report(sources.windows.kind, remedy: sources.windows.remedy, isThere: desk.isThere, seen)
    }
    guard let wake = daemons.filter(\.isConnected).compactMap(\.apps.wake).min() else { return }
    timer?.arm(at: wake, accuracy: 1000)
  }
}

extension ServiceError {
  init(_ error: SystemdError) { self.init(.software, error.description) }
}

/// The sources of a session's desktop state: units, bus names, windows and logind.
final class SessionSources {
  private let settings: SessionSettings
  private let userBus: Bus
  private let systemBus: Bus
  private let units: UserUnits
  private let names: BusNames
  private let attention: Attention
  private let idleness: SeatIdleness?
  let windows: SessionWindows
  private var classes = WindowClasses()
  /// Shows notices on the same desktop.
  let notifier: DesktopNotifier

  init(_ settings: SessionSettings, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void)
    throws(SystemdError)
  {
    self.settings = settings
    userBus = try Bus(.user, on: loop)
    systemBus = try Bus(.system, on: loop)
    units = UserUnits(userBus, changed: changed)
    names = BusNames(userBus, changed: changed)
    attention = Attention(systemBus, changed: changed)
    notifier = try DesktopNotifier(userBus, AppOpener(userBus, folders: settings.applications), on: loop, journal)
    idleness =
      if let path = settings.wayland {
        try SeatIdleness(of: path, after: settings.idleAfter, on: loop, journal, changed: changed)
      } else {
        nil
      }
    windows = try SessionWindows(settings, userBus, on: loop, journal, changed: changed)
  }

  /// Follows other desktop ids; reads the desktop files again, because new ones may exist.
  func follow(_ ids: Set<String>) {
    names.follow(ids)
    classes = WindowClasses(folders: settings.applications)
  }

  /// Removes what the program has added to the desktop.
  func stop() { windows.stop() }

  /// The present state of the desktop.
  var desk: Desk {
    Desk(
      running: units.running.union(names.owned), windows: windows.open.map(identified), classes: classes,
      isThere: attention.isThere && idleness?.isIdle != true)
  }

  /// Whether each source has answered or is absent.
  var isSettled: Bool { units.isSettled && windows.isSettled }

  /// Adds to a window the app of its unit, if no name of the window belongs to an installed app.
  ///
  /// The unit of an installed app overrides the name of an interpreter, even if a desktop file claims that name.
  private func identified(_ window: OpenWindow) -> OpenWindow {
    var window = window
    let own = window.namesOfItsOwn
    if classes.know(own) {
      window.names = own
    } else if let id = ProcessUnit.desktopID(of: window.process), !classes.know(window.names) || classes.know([id]) {
      window.unit = id
    }
    return window
  }
}
