import RefreshConfig
import RefreshEngine
import Systemd

/// Reads the files of held apps again: a home may be mounted by now, or a user known.
///
/// No event announces such a change, so the disk is read, ever less often. No timer runs while no app is held.
final class HeldApps {
  /// The wait for the next look: 5 s after the start, doubled up to 5 min.
  private static let looks = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  private unowned let core: DaemonCore
  private let files: ConfigurationReads
  private var timer: (any WakeTimer)?
  private var looked: Int32 = 1
  /// Counts configurations, so that an answer about an earlier configuration is dropped.
  private var configurations = 0

  init(_ core: DaemonCore, _ files: ConfigurationReads) { (self.core, self.files) = (core, files) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in look() }
  }

  /// Restarts the looks after a configuration has come into force.
  func reconfigured() {
    (configurations, looked) = (configurations + 1, 1)
    arm()
  }

  private func arm() {
    if core.configuration.held.isEmpty {
      timer?.disarm()
    } else {
      core.scheduler.arm(timer, after: Self.looks.wait(after: looked), accuracy: 1_000_000)
    }
  }

  private func look() {
    guard !core.engine.isStopping else { return }
    let asked = configurations
    files.read { [self] result in
      guard asked == configurations, !core.engine.isStopping else { return }
      if case .success(let newer) = result, let next = core.configuration.withHeldFiles(of: newer) {
        core.delegate.replace(by: next)
        core.delegate.statusChanged()
      } else {
        looked = Self.looks.counting(looked)
        arm()
      }
    }
  }
}
