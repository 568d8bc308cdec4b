import RefreshAPI
import Systemd

/// The windows of the session, from the one source that sees them.
///
/// The display comes first. GNOME, and Plasma on Wayland, do not show their windows there; they are asked on the user's bus.
final class SessionWindows {
  /// The most bytes of a remedy that the daemon takes.
  private static let longestRemedy = 256

  private let changed: () -> Void
  private var display: DisplayWindows?
  private var gnome: GnomeWindows?
  private var kwin: KWinWindows?

  /// Looks for a source; `changed` is called when other windows are open or the source is another.
  init(
    _ settings: SessionSettings, _ bus: Bus, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void
  ) throws(SystemdError) {
    self.changed = changed
    gnome = try GnomeWindows(bus) { [unowned self] in update() }
    kwin = try KWinWindows(settings, bus, on: loop, journal) { [unowned self] in update() }
    display = try DisplayWindows(settings, on: loop, journal) { [unowned self] in update() }
    update()
  }

  /// Has the desktop no longer tell of windows.
  func stop() { kwin?.isWanted = false }

  /// How the session sees windows.
  var kind: Wire.WindowSource { source?.kind ?? .none }

  /// The windows that are open; none while they are not known.
  var open: [OpenWindow] { source?.open ?? [] }

  /// Whether the windows are known, or cannot be.
  var isSettled: Bool { source?.isSettled ?? sources.allSatisfy(\.isSettled) }

  /// The remedy for a session that cannot see windows; nil for one that can, or while that is not known.
  var remedy: String? {
    guard source == nil, isSettled, let remedy = sources.reversed().lazy.compactMap(\.remedy).first else { return nil }
    return remedy.utf8.count <= Self.longestRemedy ? remedy : "have the app signal for itself"
  }

  private var sources: [any OpenWindows] {
    let all: [(any OpenWindows)?] = [display, gnome, kwin]
    return all.compactMap(\.self)
  }

  private var source: (any OpenWindows)? { sources.first { $0.kind != .none } }

  private func update() {
    // KWin runs a script for this alone, so not while another source sees windows.
    if let display, let gnome { kwin?.isWanted = display.isSettled && display.kind == .none && gnome.kind == .none }
    changed()
  }
}
