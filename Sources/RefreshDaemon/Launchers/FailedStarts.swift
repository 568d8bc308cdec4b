import RefreshEngine
import Systemd

/// The tasks that cannot start; the loop's next turn reports each, so that no end is reported before `start` returns.
final class FailedStarts {
  private var keys: [ProcessKey] = []
  private var timer: TimerSource?

  init(on loop: EventLoop, report: @escaping (ProcessKey) -> Void) throws(SystemdError) {
    timer = try loop.timer { [unowned self] in
      let due = keys
      keys = []
      for key in due { report(key) }
    }
  }

  func add(_ key: ProcessKey) {
    keys.append(key)
    timer?.arm(at: 0, accuracy: 1)
  }
}
