import Systemd

/// The tries to connect to a compositor or an X server at its socket.
///
/// A few follow soon after a loss, because the socket may be there before the server listens. The others wait until the
/// socket changes.
final class ConnectionTries {
  /// The pause before a new try in microseconds, and how many there are until the socket changes.
  private static let (pause, most) = (Int64(250_000), 8)

  private let connect: () -> Void
  private var file: FileSource?
  private var timer: TimerSource?
  private var left = most

  /// Calls `connect` at each new try; the first is the caller's own.
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

  /// Tries again after a pause, a few times at most.
  func tryAgain() {
    guard left > 0 else { return }
    left -= 1
    timer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 4)
  }

  /// Ends the pause, because there is a connection.
  func endPause() { timer?.disarm() }

  /// The server has answered, so its loss is followed by all tries again.
  func succeeded() { left = Self.most }
}
