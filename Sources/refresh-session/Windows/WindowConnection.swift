import CWindows
import Glibc

/// A connection that reports windows: to a Wayland compositor or to an X server.
///
/// Each function of the C target does one step without waiting, except the first connect to an X server.
final class WindowConnection {
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

  /// Connects to the compositor at a path; nil if nobody listens there.
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
  func takeChange() -> Bool {
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
