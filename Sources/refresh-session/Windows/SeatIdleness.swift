import CWindows
import Systemd

/// Tells whether the user is idle, as the compositor reports by ext_idle_notifier_v1.
///
/// Use it for compositors that report nothing to logind. Without the protocol, the user never counts as idle.
final class SeatIdleness {
  private let path: String
  private let after: UInt32
  private let loop: EventLoop
  private let changed: () -> Void
  private var connection: OpaquePointer?
  private var source: IOSource?
  private var tries: ConnectionTries?
  /// Whether the user is idle.
  private(set) var isIdle = false

  /// Follows the compositor at a path; `after` is in milliseconds.
  init(of path: String, after: UInt32, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void)
    throws(SystemdError)
  {
    (self.path, self.after, self.loop, self.changed) = (path, after, loop, changed)
    tries = try ConnectionTries(at: path, on: loop, journal) { [unowned self] in connect() }
    connect()
  }

  deinit {
    source?.cancel()
    if let connection { idle_close(connection) }
  }

  private func connect() {
    // The timer and the socket may both request a connection.
    guard connection == nil else { return }
    guard let made = idle_open(path, after) else {
      tries?.tryAgain()
      return
    }
    connection = made
    tries?.endPause()
    do throws(SystemdError) {
      source = try loop.watch(idle_descriptor(made), for: .readable) { [unowned self] events in
        turn(isReadable: !events.isDisjoint(with: [.readable, .hangup, .error]))
      }
    } catch {
      return close()
    }
    turn(isReadable: false)
  }

  private func turn(isReadable: Bool) {
    guard let connection else { return }
    switch idle_turn(connection, isReadable) {
    case .asking: break
    case .watching: tries?.succeeded()
    case .unsupported: return close()
    case .lost:
      close()
      tries?.tryAgain()
      return
    }
    // A turn may have queued more requests, which are sent at once.
    source?.events = idle_wants_to_write(connection) ? [.readable, .writable] : .readable
    set(idle_is_idle(connection))
  }

  private func close() {
    source?.cancel()
    if let connection { idle_close(connection) }
    (source, connection) = (nil, nil)
    set(false)
  }

  private func set(_ isIdle: Bool) {
    guard isIdle != self.isIdle else { return }
    self.isIdle = isIdle
    changed()
  }
}
