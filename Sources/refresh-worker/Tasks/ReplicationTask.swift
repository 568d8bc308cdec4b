import CLinux
import Glibc
import RefreshAPI
import Varlink

/// The built-in task `replicate`: makes CouchDB replicate a database, and reports the result to the daemon.
enum ReplicationTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.ReplicationOrder.self) { order, context in
      let terminated = linux_signal_descriptor(SIGTERM)
      do throws(TaskFailure) {
        let result = try Replicator(order).run(until: terminated) { progress in
          logError(progress)
          tell(progress, context)
        }
        guard let result else { return EX_TEMPFAIL }
        return context.end(result)
      } catch {
        return context.end(TaskResult(error))
      }
    }
  }

  private static func tell(_ progress: String, _ context: TaskContext) {
    do throws(ClientError) {
      _ = try context.call(WorkerInterface.Progress.self) { token in
        WorkerInterface.Progress.Parameters(token: token, text: progress)
      }
    } catch {
      logError("cannot tell refreshd how far it is: \(error)")
    }
  }
}
