import Glibc
import RefreshAPI
import Systemd

/// The windows that a Wayland compositor reports by zwlr_foreign_toplevel_manager_v1, or an X server by its properties.
final class DisplayWindows: OpenWindows {
  private let settings: SessionSettings
  private let loop: EventLoop
  private let changed: () -> Void
  private var connection: WindowConnection?
  private var source: IOSource?
  private var tries: ConnectionTries?
  private var isUnsupported = false
  /// Whether the connection reports windows.
  private var isWatching = false
  private(set) var open: [OpenWindow] = []
  private(set) var isSettled = false

  init(_ settings: SessionSettings, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void)
    throws(SystemdError)
  {
    (self.settings, self.loop, self.changed) = (settings, loop, changed)
    if let path = socket {
      tries = try ConnectionTries(at: path, on: loop, journal) { [unowned self] in connect() }
    }
    connect()
  }

  var kind: Wire.WindowSource {
    guard connection != nil else { return .none }
    return settings.wayland != nil ? .wlr : .x11
  }

  var remedy: String? {
    guard kind == .none else { return nil }
    if isUnsupported {
      let name = settings.desktops.first.map { "the desktop \($0)" } ?? "the compositor"
      return "\(name) does not offer zwlr_foreign_toplevel_manager_v1; have the app signal for itself"
    }
    let remedy =
      "in the session run: systemctl --user import-environment WAYLAND_DISPLAY DISPLAY XAUTHORITY && "
      + "systemctl --user restart refresh-session"
    if let socket { return "nobody answers on \(socket), or it refuses; \(remedy)" }
    return "there is no display; \(remedy)"
  }

  /// The socket whose change means that the server may be back.
  private var socket: String? {
    if let wayland = settings.wayland { return wayland }
    guard let display = settings.display, display.hasPrefix(":") else { return nil }
    return "/tmp/.X11-unix/X" + display.dropFirst().prefix { $0 != "." }
  }

  private func connect() {
    // The timer and the socket may both request a connection.
    guard !isUnsupported, connection == nil else { return }
    let made =
      settings.wayland.map(WindowConnection.init(compositor:)) ?? settings.display.map(WindowConnection.init(display:))
    guard let made, let made else { return tryAgain() }
    do throws(SystemdError) {
      source = try loop.watch(made.descriptor, for: .readable) { [unowned self] events in
        turn(isReadable: !events.isDisjoint(with: [.readable, .hangup, .error]))
      }
    } catch {
      return tryAgain()
    }
    connection = made
    tries?.endPause()
    turn(isReadable: false)
  }

  private func turn(isReadable: Bool) {
    guard let connection else { return }
    let (wasSettled, wasWatching) = (isSettled, isWatching)
    switch connection.turn(isReadable: isReadable) {
    case .asking: break
    case .watching:
      (isSettled, isWatching) = (true, true)
      tries?.succeeded()
    case .unsupported:
      isUnsupported = true
      return close()
    case .lost:
      close()
      return tryAgain()
    }
    source?.events = connection.wantsToWrite ? [.readable, .writable] : .readable
    // Report a compositor that is back, even without a window.
    let isNew = isSettled != wasSettled || isWatching != wasWatching
    guard connection.takeChange() || isNew else { return }
    let windows = connection.windows
    if windows != open || isNew {
      open = windows
      changed()
    }
  }

  /// Drops the connection and all windows: without a compositor, nothing is in front.
  private func close() {
    source?.cancel()
    (source, connection, open, isSettled, isWatching) = (nil, nil, [], true, false)
    changed()
  }

  private func tryAgain() {
    if !isSettled, connection == nil {
      isSettled = true
      changed()
    }
    tries?.tryAgain()
  }
}
