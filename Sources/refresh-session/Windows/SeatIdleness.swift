import CWindows
import Systemd

/// Whether nobody has touched the seat of the compositor for a while, as ext_idle_notifier_v1 tells it.
///
/// It is for compositors that tell logind nothing. The seat of a compositor without the protocol counts as touched.
final class SeatIdleness {
  /// The pause before a new try, and how many there are until the socket changes.
  private static let (pause, tries) = (Int64(250_000), 8)

  private let path: String
  private let after: UInt32
  private let loop: EventLoop
  private let changed: () -> Void
  private var connection: OpaquePointer?
  private var source: IOSource?
  private var file: FileSource?
  private var retry: TimerSource?
  private var triesLeft = tries
  /// Whether the user is idle.
  private(set) var isIdle = false

  /// Follows the compositor at a path; `after` is in milliseconds.
  init(of path: String, after: UInt32, on loop: EventLoop, changed: @escaping () -> Void) throws(SystemdError) {
    (self.path, self.after, self.loop, self.changed) = (path, after, loop, changed)
    retry = try loop.timer { [unowned self] in connect() }
    file = try? loop.onChange(of: path) { [unowned self] in
      triesLeft = Self.tries
      connect()
    }
    connect()
  }

  deinit {
    source?.cancel()
    if let connection { idle_close(connection) }
  }

  private func connect() {
    // The timer and the socket may both call for a connection.
    guard connection == nil else { return }
    guard let made = idle_open(path, after) else { return tryAgain() }
    connection = made
    retry?.disarm()
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
    case .watching: triesLeft = Self.tries
    case .unsupported: return close()
    case .lost:
      close()
      return tryAgain()
    }
    // A turn may have asked for more, which is sent at once.
    source?.events = idle_wants_to_write(connection) ? [.readable, .writable] : .readable
    set(idle_is_idle(connection))
  }

  private func close() {
    source?.cancel()
    if let connection { idle_close(connection) }
    (source, connection) = (nil, nil)
    set(false)
  }

  private func tryAgain() {
    guard triesLeft > 0 else { return }
    triesLeft -= 1
    retry?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 4)
  }

  private func set(_ isIdle: Bool) {
    guard isIdle != self.isIdle else { return }
    self.isIdle = isIdle
    changed()
  }
}
