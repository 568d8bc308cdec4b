import Glibc
import RefreshAPI
import Systemd
import Varlink

/// Reports to a daemon: a connection follows the apps that the daemon wants to know about, another carries the reports.
///
/// Without a daemon it waits for a change of the socket, at no cost. It reconnects to a daemon that ends, with a back-off.
final class DaemonFollower {
  /// The first and the longest pause before a reconnect, and the pause after a refusal, in microseconds.
  private static let (first, longest, refused): (Int64, Int64, Int64) = (100_000, 5_000_000, 600_000_000)
  /// The longest wait for the answer to a report, and for the daemon to accept its bytes, in microseconds.
  private static let patience: Int64 = 10_000_000

  private struct ConnectionPair {
    let follow: Client
    let work: Client
    var follower: Int?
    var sources: [IOSource] = []
    var isReporting = false
    var sent: SessionInterface.Report.Parameters?
  }

  private let socket: SocketPath
  private let loop: EventLoop
  private let journal: Journal
  private let changed: () -> Void
  private var connection: ConnectionPair?
  private var file: FileSource?
  private var timer: TimerSource?
  private var delay = first
  /// The apps that the daemon wants to know about.
  var apps = FollowedApps()
  /// Called with each notice for the user; set once.
  var onNotice: (Wire.DesktopNotice) -> Void = { _ in }

  init(
    _ socket: SocketPath, on loop: EventLoop, _ journal: Journal, changed: @escaping () -> Void
  ) throws(SystemdError) {
    (self.socket, self.loop, self.journal, self.changed) = (socket, loop, journal, changed)
    timer = try loop.timer { [unowned self] in timePassed() }
    connect()
  }

  /// Whether the daemon accepts reports.
  var isConnected: Bool { connection?.follower != nil }

  /// Sends a report, unless the last one was equal or is still unanswered; after the answer the caller reports again.
  func report(_ windows: Wire.WindowSource, remedy: String?, isThere: Bool, _ seen: [Wire.ObservedApp]) {
    guard let connection, let follower = connection.follower, !connection.isReporting else { return }
    let report = SessionInterface.Report.Parameters(
      follower: follower, windows: windows, remedy: remedy, isWatched: isThere, apps: seen)
    guard report != connection.sent else { return }
    do throws(ClientError) {
      try connection.work.begin(SessionInterface.Report.self, report, more: false)
      self.connection?.sent = report
      self.connection?.isReporting = true
      arm(after: Self.patience)
    } catch {
      fail(error)
    }
  }

  private func connect() {
    file = nil
    do throws(ClientError) {
      let made = ConnectionPair(follow: try Client(path: socket.path), work: try Client(path: socket.path))
      // A stopped daemon reads no bytes, and a send must not block forever.
      var patience = timeval(tv_sec: Int(Self.patience / 1_000_000), tv_usec: 0)
      setsockopt(made.work.descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      try made.follow.begin(SessionInterface.Follow.self, .init(), more: true)
      connection = made
    } catch {
      return fail(error)
    }
    do throws(SystemdError) {
      guard let made = connection else { return }
      connection?.sources = [
        try loop.watch(made.follow.descriptor, for: .readable) { [unowned self] _ in receiveApps() },
        try loop.watch(made.work.descriptor, for: .readable) { [unowned self] _ in receiveAnswer() },
      ]
    } catch {
      close()
      arm(after: Self.longest)
    }
  }

  private func receiveApps() {
    do throws(ClientError) {
      while let answer = try connection?.follow.nextAnswer(of: SessionInterface.Follow.self) {
        guard answer.continues else { throw .disconnected }
        connection?.follower = Int(answer.parameters.follower)
        delay = Self.first
        if let notice = answer.parameters.notice { onNotice(notice) }
        guard let list = answer.parameters.apps else { continue }
        apps.replace(by: list)
        changed()
      }
    } catch {
      fail(error)
    }
  }

  private func receiveAnswer() {
    do throws(ClientError) {
      guard try connection?.work.nextAnswer(of: SessionInterface.Report.self) != nil else { return }
      connection?.isReporting = false
      timer?.disarm()
      changed()
    } catch {
      fail(error)
    }
  }

  /// Handles the timer: a report has no answer in time, or a reconnect is due.
  private func timePassed() {
    if connection == nil { return connect() }
    fail(.disconnected)
  }

  private func fail(_ error: ClientError) {
    close()
    switch error {
    case .unreachable: waitForSocket()
    case .failed(let reply) where reply.name != SessionInterface.NoSuchFollower.name:
      // An older daemon lacks the interface, and a daemon that refuses the user keeps refusing.
      journal.write(
        JournalEntry("cannot report to refreshd at \(socket.path) what is open: \(error)", priority: .warning))
      arm(after: Self.refused)
    default:
      arm(after: delay)
      delay = min(delay * 2, Self.longest)
    }
    changed()
  }

  /// Waits for a change of the socket, or of its folder if the socket does not exist.
  private func waitForSocket() {
    let folder = socket.path.lastIndex(of: "/").map { String(socket.path[..<$0]) } ?? socket.path
    for path in [socket.path, folder] {
      do throws(SystemdError) {
        file = try loop.onChange(of: path) { [unowned self] in arm(after: Self.first) }
        return
      } catch {
        continue
      }
    }
    // The parent folder does not exist either.
    arm(after: Self.refused)
  }

  private func close() {
    for source in connection?.sources ?? [] { source.cancel() }
    connection = nil
    timer?.disarm()
  }

  private func arm(after microseconds: Int64) {
    timer?.arm(at: EventLoop.bootMicroseconds() + microseconds, accuracy: microseconds / 4)
  }
}
