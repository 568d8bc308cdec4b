import RefreshAPI
import Systemd

/// The windows of the session, from the first source that reports them.
///
/// The display comes first. GNOME, and Plasma on Wayland, do not report windows there, so they are asked on the user's bus.
final class SessionWindows {
  /// The most bytes of a remedy that the daemon takes.
  private static let longestRemedy = 256

  private let changed: () -> Void
  private var display: DisplayWindows?
  private var gnome: GnomeWindows?
  private var kwin: KWinWindows?

  /// Starts the sources; calls `changed` when the windows or the source change.
  init(
    _ settings: SessionSettings, _ bus: Bus, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void
  ) throws(SystemdError) {
    self.changed = changed
    gnome = try GnomeWindows(bus) { [unowned self] in update() }
    kwin = try KWinWindows(settings, bus, on: loop, journal) { [unowned self] in update() }
    display = try DisplayWindows(settings, on: loop, journal) { [unowned self] in update() }
    update()
  }

  /// Ends KWin's script.
  func stop() { kwin?.isWanted = false }

  /// The kind of the present source.
  var kind: Wire.WindowSource { source?.kind ?? .none }

  /// The open windows; empty while they are unknown.
  var open: [OpenWindow] { source?.open ?? [] }

  /// Whether the windows are known, or cannot be known.
  var isSettled: Bool { source?.isSettled ?? sources.allSatisfy(\.isSettled) }

  /// The remedy for a session without window reports; nil if there are reports, or while this is unknown.
  var remedy: String? {
    guard source == nil, isSettled, let remedy = sources.reversed().lazy.compactMap(\.remedy).first else { return nil }
    return remedy.utf8.count <= Self.longestRemedy ? remedy : "let the app send its own signals"
  }

  private var sources: [any OpenWindows] {
    let all: [(any OpenWindows)?] = [display, gnome, kwin]
    return all.compactMap(\.self)
  }

  private var source: (any OpenWindows)? { sources.first { $0.kind != .none } }

  private func update() {
    // The script in KWin is needed only if no other source reports windows.
    if let display, let gnome { kwin?.isWanted = display.isSettled && display.kind == .none && gnome.kind == .none }
    changed()
  }
}

/// A source of the session's windows.
protocol OpenWindows: AnyObject {
  /// The kind of source; `none` while it reports no windows.
  var kind: Wire.WindowSource { get }
  /// The open windows; empty while they are unknown.
  var open: [OpenWindow] { get }
  /// Whether the windows are known, or cannot be known.
  var isSettled: Bool { get }
  /// The remedy while the source cannot report windows; nil while it can, or if nothing would help.
  var remedy: String? { get }
}

/// A window, with the properties that identify its app; its title is never read.
struct OpenWindow: Hashable, Sendable {
  /// The most windows that are kept of a desktop, and the most bytes of a name.
  static let (most, longestName) = (4096, 256)

  /// The ids of the window, the best first: app id, class, instance.
  var names: [String]
  /// Whether it has the focus.
  var isFocused: Bool
  /// Whether it is minimised.
  var isMinimised: Bool
  /// The process that opened the window; 0 if unknown.
  var process = 0
  /// The desktop id in the name of the process's unit, if the names say less; see ``ProcessUnit``.
  var unit: String?

  /// The desktop id of the app: from the unit if it is set, else from the class or program of a desktop file, else the
  /// window's first id.
  func desktopID(_ classes: WindowClasses) -> String? {
    unit ?? names.lazy.compactMap { classes.ids[$0.lowercased()] }.first ?? names.first
  }

  /// The names that do not belong to an interpreter.
  var namesOfItsOwn: [String] { names.filter { !WindowClasses.interpreters.contains($0.lowercased()) } }
}

extension OpenWindow {
  /// Reads a window of the KWin script or the GNOME extension: state 0 minimised, 1 open, 2 focused; nil for another state.
  init?(state: Int, process: Int, names: [String]) {
    guard (0...2).contains(state) else { return nil }
    // Drops a name that is too long, because its beginning could be another app's name.
    let names = names.prefix(8).filter { !$0.isEmpty && $0.utf8.count <= Self.longestName }
    self.init(names: Array(names), isFocused: state == 2, isMinimised: state == 0, process: process)
  }
}
