import CWindows
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
      return "\(name) does not offer zwlr_foreign_toplevel_manager_v1; let the app send its own signals"
    }
    let remedy =
      "in the session run: systemctl --user import-environment WAYLAND_DISPLAY DISPLAY XAUTHORITY && "
      + "systemctl --user restart refresh-session"
    if let socket { return "nobody answers on \(socket), or it refuses; \(remedy)" }
    return "no display was found; \(remedy)"
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
    guard connection.consumeChange() || isNew else { return }
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

/// A connection that reports windows: to a Wayland compositor or to an X server.
///
/// Each function of the C target does one step without waiting, except the first connect to an X server.
private final class WindowConnection {
  /// The two kinds of connection.
  private enum Kind {
    case wlr(OpaquePointer)
    case x11(OpaquePointer)
  }

  /// The progress of the connection.
  enum State {
    /// The reply to the first request is not complete.
    case asking
    /// All windows are known.
    case watching
    /// The server does not report windows.
    case unsupported
    /// The connection has ended.
    case lost
  }

  private let kind: Kind

  /// Connects to the compositor at a path; nil if no compositor listens there.
  init?(compositor path: String) {
    guard let wlr = wlr_open(path) else { return nil }
    kind = .wlr(wlr)
  }

  /// Connects to an X display such as `:0`; nil if that fails.
  init?(display: String) {
    guard let x11 = x11_open(display) else { return nil }
    kind = .x11(x11)
  }

  deinit {
    switch kind {
    case .wlr(let wlr): wlr_close(wlr)
    case .x11(let x11): x11_close(x11)
    }
  }

  /// The socket, to watch for reading.
  var descriptor: Int32 {
    switch kind {
    case .wlr(let wlr): wlr_descriptor(wlr)
    case .x11(let x11): x11_descriptor(x11)
    }
  }

  /// Whether bytes wait for room in the socket.
  var wantsToWrite: Bool {
    switch kind {
    case .wlr(let wlr): wlr_wants_to_write(wlr)
    case .x11: false
    }
  }

  /// Reads the available bytes if the socket is readable, and sends the resulting requests.
  func turn(isReadable: Bool) -> State {
    let state =
      switch kind {
      case .wlr(let wlr): wlr_turn(wlr, isReadable)
      case .x11(let x11): x11_turn(x11)
      }
    return switch state {
    case .asking: .asking
    case .watching: .watching
    case .unsupported: .unsupported
    case .lost: .lost
    }
  }

  /// Returns whether a window has changed since the last call.
  func consumeChange() -> Bool {
    switch kind {
    case .wlr(let wlr): wlr_take_change(wlr)
    case .x11(let x11): x11_take_change(x11)
    }
  }

  /// The windows that are open.
  var windows: [OpenWindow] {
    let room = windows_most
    let found = [windows_window](unsafeUninitializedCapacity: room) { buffer, count in
      count =
        switch kind {
        case .wlr(let wlr): wlr_windows(wlr, buffer.baseAddress, room)
        case .x11(let x11): x11_windows(x11, buffer.baseAddress, room)
        }
    }
    return found.map { window in
      let names: [String] = [window.application, window.class_name, window.instance].compactMap { name in
        name.map { String(cString: $0) }
      }
      return OpenWindow(
        names: names.filter { !$0.isEmpty }, isFocused: window.is_focused, isMinimised: window.is_minimised,
        process: Int(window.pid))
    }
  }
}

/// Retries the connection to a compositor or an X server at its socket.
///
/// A few retries follow soon after a loss, because the socket may exist before the server listens. Later ones wait for a
/// change of the socket.
final class ConnectionTries {
  /// The pause before a retry in microseconds, and the number of retries until the socket changes.
  private static let (pause, most) = (Int64(250_000), 8)

  private let connect: () -> Void
  private var file: FileSource?
  private var timer: TimerSource?
  private var left = most

  /// Calls `connect` at each retry; the caller makes the first attempt itself.
  init(at socket: String, on loop: EventLoop, _ journal: Journal, connect: @escaping () -> Void) throws(SystemdError) {
    self.connect = connect
    timer = try loop.timer(handler: connect)
    do throws(SystemdError) {
      file = try loop.onChange(of: socket) { [unowned self] in
        succeeded()
        self.connect()
      }
    } catch {
      journal.write(
        JournalEntry(
          "cannot see when \(socket) changes, so a lost server is tried only for 2 s: \(error)", priority: .warning)
      )
    }
  }

  /// Retries after a pause, at most ``most`` times in a row.
  func tryAgain() {
    guard left > 0 else { return }
    left -= 1
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 4)
  }

  /// Ends the pause, because there is a connection.
  func endPause() { timer?.disarm() }

  /// Restores all retries, because the server has answered or the socket has changed.
  func succeeded() { left = Self.most }
}
