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
        if let remembered = result.remembered { remember(remembered, of: order.url, context) }
        return context.end(result)
      } catch {
        return context.end(TaskResult(error))
      }
    }
  }

  private static func remember(
    _ remembered: Wire.FetchOrder.Remembered, of url: String, _ context: TaskContext
  ) {
    do throws(ClientError) {
      _ = try context.call(WorkerInterface.Remember.self) { token in
        WorkerInterface.Remember.Parameters(
          token: token, url: url, finalURL: remembered.url, etag: remembered.etag,
          lastModified: remembered.lastModified, digest: remembered.digest)
      }
    } catch {
      logError("cannot have refreshd remember what came, so that all of it comes again: \(error)")
    }
  }
}
