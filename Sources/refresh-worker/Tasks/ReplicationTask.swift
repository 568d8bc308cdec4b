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
        let result = try Replicator(order).run(until: terminated) { news in
          switch news {
          case .progress(let text):
            logError(text)
            tell(text, context)
          case .began(let session):
            context.remember(.init(url: nil, etag: session.id, lastModified: nil, digest: nil), of: order.pair)
          }
        }
        guard let result else { return EX_TEMPFAIL }
        if let remembered = result.remembered { context.remember(remembered, of: order.pair) }
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
