import CLinux
import Glibc
import RefreshAPI
import Varlink

/// The built-in task `http`: fetches a URL into a file, and reports the result and the validators to the daemon.
enum FetchTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.FetchOrder.self) { order, context in
      let terminated = linux_signal_descriptor(SIGTERM)
      do throws(TaskFailure) {
        guard let result = try ConditionalFetch(order).run(until: terminated) else { return EX_TEMPFAIL }
        if let remembered = result.remembered { context.remember(remembered, of: order.url) }
        return context.end(result)
      } catch {
        return context.end(TaskResult(error))
      }
    }
  }
}
