import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// A signal that lasts as long as a command runs: the daemon revokes it when the connection ends.
///
/// A restarted daemon has no leases, so this process takes the lease again as soon as the daemon answers.
struct AppLease {
  let app: String
  let signal: Wire.LifecycleSignal

  /// Whether the daemon has granted the lease.
  private enum Grant {
    case held(DaemonClient)
    case lost
    case refused

    var isLost: Bool { if case .lost = self { true } else { false } }
  }

  /// The time between two attempts to reach a daemon that has ended.
  private static let pause = timespec(tv_sec: 1, tv_nsec: 0)

  /// Takes the leases of some apps, runs the command, and exits with the exit code of the command.
  ///
  /// The terminal sends its signals to the command as well, because the command is in the same process group. Signals
  /// sent to this process alone are passed on. The kernel reports the end of a connection by SIGIO, so that
  /// sigwaitinfo(2) waits for everything.
  static func hold(
    _ apps: [String], _ signal: Wire.LifecycleSignal, whileRunning command: [String], over options: ConnectionOptions
  ) throws {
    let leases = try options.naming(apps) { ids throws(Failure) in
      var leases: [(lease: AppLease, grant: Grant)] = []
      for id in ids {
        let lease = AppLease(app: id, signal: signal)
        leases.append((lease, .held(try lease.acquire(options))))
      }
      return leases
    }
    try hold(leases, whileRunning: command, over: options)
  }

  private static func hold(
    _ leases: [(lease: AppLease, grant: Grant)], whileRunning command: [String], over options: ConnectionOptions
  ) throws {
    var leases = leases
    let (awaited, mask) = block()
    let child: ChildCommand
    do throws(ChildCommand.NotStarted) {
      child = try ChildCommand(command, signalMask: mask)
    } catch {
      warn(error.text)
      throw ExitCode(error.exitCode)
    }
    while true {
      leases = leases.map { ($0.lease, $0.lease.renewed($0.grant, over: options)) }
      var information = siginfo_t()
      switch wait(for: awaited, isRetrying: leases.contains { $0.grant.isLost }, &information) {
      case SIGCHLD: if let code = child.exitCode() { throw ExitCode(code) }
      case SIGIO, -1: break
      // The kernel (si_code above 0) sends signals of the terminal to the whole group, so the command has this one.
      case let signal: if information.si_code <= 0 { child.send(signal) }
      }
    }
  }

  /// Checks the connection, and takes a lost lease again.
  private func renewed(_ grant: Grant, over options: ConnectionOptions) -> Grant {
    switch grant {
    case .held(let daemon):
      daemon.reportBySignal()
      if !daemon.isAtEnd() { return grant }
      warn("lost the lease on \(app): the daemon closed the connection; trying again until the daemon answers")
      return .lost
    case .lost:
      do throws(Failure) {
        return renewed(.held(try acquire(options)), over: options)
      } catch {
        if error.status == .noDaemon { return .lost }
        warn("cannot take the lease on \(app) again, and the command runs without it: \(error.text)")
        return .refused
      }
    case .refused: return .refused
    }
  }

  /// Opens a connection that holds the lease.
  private func acquire(_ options: ConnectionOptions) throws(Failure) -> DaemonClient {
    let daemon = try DaemonClient(options, .ofLease)
    _ = try daemon.first(AppInterface.Signal.self, .init(app: app, signal: signal, lease: true))
    return daemon
  }

  /// Blocks the awaited signals; returns them, and the mask before.
  private static func block() -> (awaited: sigset_t, before: sigset_t) {
    var (awaited, before) = (sigset_t(), sigset_t())
    sigemptyset(&awaited)
    for signal in [SIGCHLD, SIGIO, SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&awaited, signal) }
    sigprocmask(SIG_BLOCK, &awaited, &before)
    return (awaited, before)
  }

  /// The number of the next signal; -1 when the next attempt to reach the daemon is due.
  private static func wait(for signals: sigset_t, isRetrying: Bool, _ information: inout siginfo_t) -> Int32 {
    var signals = signals
    guard isRetrying else { return sigwaitinfo(&signals, &information) }
    var pause = Self.pause
    return sigtimedwait(&signals, &information, &pause)
  }
}
