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
    return remedy.utf8.count <= Self.longestRemedy ? remedy : "have the app signal for itself"
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
