import Systemd

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
