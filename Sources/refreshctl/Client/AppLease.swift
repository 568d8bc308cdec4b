import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI

/// A signal that lasts as long as a command runs: the daemon revokes it when the connection ends.
///
/// A restarted daemon knows no leases, so this process acquires the lease again as soon as the daemon answers.
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

  /// Acquires the leases of some apps, runs the command, and exits with its exit code.
  ///
  /// The terminal signals the command too, because it is in the same process group; signals that are sent only to this
  /// process are passed on. The kernel reports the end of a connection by SIGIO, so that sigwaitinfo(2) waits for
  /// everything.
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
      // If the kernel sent it (si_code above 0), it comes from the terminal, and the command has got it too.
      case let signal: if information.si_code <= 0 { child.send(signal) }
      }
    }
  }

  /// Checks the connection, and acquires a lost lease again.
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
        warn("cannot get the lease on \(app) back, so the command runs without it: \(error.text)")
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

/// A child process in the process group and on the terminal of this process.
private struct ChildCommand {
  private let pid: pid_t

  /// The exit codes for a command that does not start, as env(1) and the shells use them.
  private static let notFound: Int32 = 127
  private static let notExecutable: Int32 = 126

  struct NotStarted: Error {
    let text: String
    let exitCode: Int32
  }

  /// Starts the program, which is searched in `PATH`, with the signal mask `mask`.
  init(_ arguments: [String], signalMask mask: sigset_t) throws(NotStarted) {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var mask = mask
    posix_spawnattr_setsigmask(&attributes, &mask)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    var pid: pid_t = 0
    let code = posix_spawnp(&pid, arguments[0], nil, &attributes, &pointers, environ)
    guard code == 0 else {
      throw NotStarted(
        text: "cannot start \(arguments[0]): \(errorText(code))",
        exitCode: code == ENOENT ? Self.notFound : Self.notExecutable)
    }
    self.pid = pid
  }

  func send(_ signal: Int32) { kill(pid, signal) }

  /// The exit code of the command after its end: 128 plus the signal number if a signal ended it.
  func exitCode() -> Int32? {
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
    // wait(2): the low seven bits are the signal, the next byte the code.
    let signal = status & 0x7F
    return signal == 0 ? status >> 8 & 0xFF : 128 + signal
  }
}
