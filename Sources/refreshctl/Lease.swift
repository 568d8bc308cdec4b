import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// A signal that holds as long as a command runs: a leased signal, undone by the end of the connection.
///
/// If the daemon restarts meanwhile, its leases are gone (DESIGN section 4); then the signal is leased again as soon as
/// the daemon answers.
struct Lease {
  let app: String
  let signal: Wire.LifecycleSignal

  /// Whether the daemon has the lease.
  private enum Holding {
    case held(Daemon)
    case lost
    case refused
  }

  /// How long to wait before a daemon is asked again that has gone away.
  private static let pause = timespec(tv_sec: 1, tv_nsec: 0)
  /// How long to wait for an answer of a daemon that came back: meanwhile the end of the command goes unseen.
  private static let secondsToAnswer = 5

  /// Leases the signal, runs the command, and ends the process as the command ended.
  ///
  /// Signals from the terminal reach the command without us, as it is in our process group; those that were sent to this
  /// process alone are passed on. The connection is watched through SIGIO, so that there is one thing to wait for.
  func hold(whileRunning command: [String], over options: ConnectionOptions) throws {
    var holding = Holding.held(try acquire(options))
    let (waitedFor, mask) = Self.block()
    let child: ChildCommand
    do throws(ChildCommand.NotStarted) {
      child = try ChildCommand(command, signalMask: mask)
    } catch {
      warn(error.text)
      throw ExitCode(error.exitCode)
    }
    while true {
      holding = renewed(holding, over: options)
      var information = siginfo_t()
      switch Self.wait(for: waitedFor, holding, &information) {
      case SIGCHLD: if let code = child.exitCode() { throw ExitCode(code) }
      case SIGIO, -1: break
      // From the kernel (si_code above 0) the command had it as well: the terminal signals the whole group.
      case let signal: if information.si_code <= 0 { child.send(signal) }
      }
    }
  }

  /// The lease as it is after another look, taken again if it was lost.
  private func renewed(_ holding: Holding, over options: ConnectionOptions) -> Holding {
    switch holding {
    case .held(let daemon):
      daemon.reportBySignal()
      if !daemon.isAtEnd() { return holding }
      warn("the daemon has gone away, and the lease on \(app) with it; it is taken again when the daemon is back")
      return .lost
    case .lost:
      do throws(Failure) {
        return renewed(.held(try acquire(options)), over: options)
      } catch {
        if error.status == .noDaemon { return .lost }
        warn("the lease on \(app) is lost: \(error.text)")
        return .refused
      }
    case .refused: return .refused
    }
  }

  /// A connection that holds the signal.
  private func acquire(_ options: ConnectionOptions) throws(Failure) -> Daemon {
    let daemon = try Daemon(options, waitingAtMost: Self.secondsToAnswer)
    _ = try daemon.first(AppInterface.Signal.self, .init(app: app, signal: signal, lease: true))
    return daemon
  }

  /// Blocks the signals that are waited for, and gives them and the mask before.
  private static func block() -> (waitedFor: sigset_t, before: sigset_t) {
    var (waitedFor, before) = (sigset_t(), sigset_t())
    sigemptyset(&waitedFor)
    for signal in [SIGCHLD, SIGIO, SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&waitedFor, signal) }
    sigprocmask(SIG_BLOCK, &waitedFor, &before)
    return (waitedFor, before)
  }

  /// The number of the next signal; -1 when it is time to look for the daemon again.
  private static func wait(for signals: sigset_t, _ holding: Holding, _ information: inout siginfo_t) -> Int32 {
    var signals = signals
    guard case .lost = holding else { return sigwaitinfo(&signals, &information) }
    var pause = Self.pause
    return sigtimedwait(&signals, &information, &pause)
  }
}
