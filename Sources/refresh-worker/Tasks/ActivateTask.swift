import Glibc
import RefreshAPI
import Systemd

/// The built-in task `activate`: makes an app refresh itself by its owner's session bus, and waits until the app ends.
enum ActivateTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.ActivationOrder.self) { order, context in
      do throws(SystemdError) {
        guard let failure = try Activation(of: order.app, within: TaskContext.secondsLeft).run() else {
          return EXIT_SUCCESS
        }
        return context.end(TaskResult(failure))
      } catch {
        return context.end(TaskResult(TaskFailure(.retry(after: nil), "\(error)")))
      }
    }
  }
}
