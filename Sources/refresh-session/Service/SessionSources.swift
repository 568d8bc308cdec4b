import Systemd

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
