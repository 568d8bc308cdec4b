import Glibc
import RefreshAPI
import Systemd

/// The program's main loop: reports the session's desktop to the daemons that follow it.
final class SessionService {
  private let loop: EventLoop
  private let journal = Journal(identifier: "refresh-session")
  private let settings: SessionSettings
  private var signals: [SignalSource] = []
  private var timer: TimerSource?
  private var sources: SessionSources?
  private var daemons: [DaemonFollower] = []
  private let pauser: AppPauser
  private var followed: Set<String> = []
  private var isLooking = false

  init(_ settings: SessionSettings) throws(ServiceError) {
    self.settings = settings
    do throws(SystemdError) {
      loop = try EventLoop()
      pauser = AppPauser(on: loop, journal)
      // A write to a closed connection must return an error.
      signal(SIGPIPE, SIG_IGN)
      for number in [SIGTERM, SIGINT] { signals.append(try loop.onSignal(number) { [unowned loop] in loop.exit(0) }) }
      timer = try loop.timer { [unowned self] in lookAgain() }
      sources = try SessionSources(settings, on: loop, journal) { [unowned self] in lookAgain() }
      for socket in settings.sockets {
        let daemon = try DaemonFollower(socket, on: loop, journal) { [unowned self] in lookAgain() }
        daemon.onNotice = { [unowned self] notice in
          sources?.notifier.show(notice) { [unowned self] in pauser.pause(notice.app, by: socket) }
        }
        daemons.append(daemon)
      }
    } catch {
      throw ServiceError(error)
    }
  }

  /// Runs until SIGTERM or SIGINT.
  func run() throws(ServiceError) {
    do throws(SystemdError) {
      _ = try loop.watchdog()
      try Notify.send(.ready)
      lookAgain()
      _ = try loop.run()
      sources?.stop()
      try Notify.send(.stopping)
    } catch {
      throw ServiceError(error)
    }
  }

  /// Reads all sources again, and reports the changes to each daemon.
  private func lookAgain() {
    // A source may call this while the others are being made, or because of this very call.
    guard let sources, !isLooking else { return }
    isLooking = true
    defer { isLooking = false }
    let ids = daemons.reduce(into: Set<String>()) { $0.formUnion($1.apps.ids) }
    if ids != followed {
      followed = ids
      sources.follow(ids)
    }
    let (desk, now) = (sources.desk, EventLoop.bootMicroseconds())
    for daemon in daemons where daemon.isConnected {
      let seen = daemon.apps.look(at: desk, now)
      daemon.report(sources.windows.kind, remedy: sources.windows.remedy, isThere: desk.isThere, seen)
    }
    guard let wake = daemons.filter(\.isConnected).compactMap(\.apps.wake).min() else { return }
    timer?.arm(at: wake, accuracy: 1000)
  }
}

extension ServiceError {
  init(_ error: SystemdError) { self.init(.software, error.description) }
}
