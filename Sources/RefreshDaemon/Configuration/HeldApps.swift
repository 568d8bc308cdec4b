import RefreshConfig
import RefreshEngine
import Systemd

/// Looks again at the files of apps that are held for a mistake: a home may be mounted, or a user known, by now.
///
/// Nothing tells of such a change, so the disk is read, ever less often. No timer runs while no app is held.
final class HeldApps {
  /// 5 s after the start, then twice as long each time, up to 5 min.
  private static let looks = BackOff(first: .seconds(5), longest: .minutes(5), mostFailures: 7)

  private unowned let core: DaemonCore
  private let files: ConfigurationReads
  private var timer: (any WakeTimer)?
  private var looked: Int32 = 1
  /// Rises with each configuration, so that an answer about an earlier one is dropped.
  private var configurations = 0
  /// Puts a configuration in force; set once.
  var replace: (ConfigurationInForce) -> Void = { _ in }

  init(_ core: DaemonCore, _ files: ConfigurationReads) { (self.core, self.files) = (core, files) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in look() }
  }

  /// Begins anew after a configuration has come into force.
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
        replace(next)
      } else {
        looked = Self.looks.counting(looked)
        arm()
      }
    }
  }
}
