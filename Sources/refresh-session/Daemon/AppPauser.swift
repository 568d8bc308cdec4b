import Glibc
import RefreshAPI
import Systemd
import Varlink

/// Pauses apps for today: makes a daemon skip their refreshes by time until midnight, with a connection for each call.
final class AppPauser {
  /// The most calls at once; a person does not click faster.
  private static let most = 8
  /// The longest wait for a daemon's answer: longer than its own bound for storing a change.
  private static let patience: Int64 = 15_000_000

  private final class SkipCall {
    let client: Client
    var source: IOSource?
    var timer: TimerSource?

    init(_ client: Client) { self.client = client }

    func end() {
      source?.cancel()
      timer?.cancel()
    }
  }

  private let loop: EventLoop
  private let journal: Journal
  private var asked: [Int: SkipCall] = [:]
  private var last = 0

  init(on loop: EventLoop, _ journal: Journal) { (self.loop, self.journal) = (loop, journal) }

  /// Pauses an app at its daemon.
  func pause(_ app: String, by socket: SocketPath) {
    guard asked.count < Self.most else { return warn(app, "refreshd at \(socket.path) does not answer") }
    last += 1
    let number = last
    do {
      let call = SkipCall(try Client(path: socket.path))
      var patience = timeval(tv_sec: Int(Self.patience / 1_000_000), tv_usec: 0)
      setsockopt(call.client.descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
      let until = Midnight.next(after: Int64(time(nil)) * 1_000_000)
      try call.client.begin(ManagerInterface.Skip.self, .init(apps: [app], untilMicroseconds: until), more: false)
      call.source = try loop.watch(call.client.descriptor, for: .readable) { [unowned self] _ in receive(number, app) }
      call.timer = try loop.timer { [unowned self] in
        warn(app, "refreshd at \(socket.path) does not answer")
        end(number)
      }
      call.timer?.arm(at: EventLoop.bootMicroseconds() + Self.patience, accuracy: 1_000_000)
      asked[number] = call
    } catch {
      warn(app, "\(error)")
    }
  }

  private func receive(_ number: Int, _ app: String) {
    do throws(ClientError) {
      guard try asked[number]?.client.nextAnswer(of: ManagerInterface.Skip.self) != nil else { return }
    } catch {
      warn(app, "\(error)")
    }
    end(number)
  }

  private func end(_ number: Int) { asked.removeValue(forKey: number)?.end() }

  private func warn(_ app: String, _ reason: String) {
    journal.write(JournalEntry("cannot pause \(app) for today: \(reason)", priority: .warning))
  }
}
