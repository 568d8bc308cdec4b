import Systemd

/// The sources of what a session shows: units, bus names, windows and logind.
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
  /// Shows notices on the desktop that the sources look at.
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

  /// Follows other desktop ids; desktop files may have come meanwhile.
  func follow(_ ids: Set<String>) {
    names.follow(ids)
    classes = WindowClasses(folders: settings.applications)
  }

  /// Ends what was begun in the desktop.
  func stop() { windows.stop() }

  /// All that the session shows now.
  var desk: Desk {
    Desk(
      running: units.running.union(names.owned), windows: windows.open.map(identified), classes: classes,
      isThere: attention.isThere && idleness?.isIdle != true)
  }

  /// Whether each source has answered, or is not there.
  var isSettled: Bool { units.isSettled && windows.isSettled }

  /// The window with the app of its unit, where its names are those of no app that is installed.
  ///
  /// The name of an interpreter says less than the unit of an app that is installed, also where a desktop file claims it.
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
