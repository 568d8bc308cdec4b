import Glibc
import RefreshAPI
import Varlink

/// The built-in task `transfer`: enqueues a background download and does not wait for it.
enum EnqueueTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.Request.self) { request, context in context.end(result(of: request, context)) }
  }

  private static func result(of request: Wire.Request, _ context: TaskContext) -> TaskResult {
    // Without this, the end of each transfer would start the next one.
    guard context.trigger != "transfer" else { return TaskResult(.noData, "woken because transfers have ended") }
    do throws(ClientError) {
      let known = try context.call(WorkerInterface.Downloads.self) { token in
        .init(token: token, url: request.url, path: request.path)
      }
      if let same = known.id {
        try cancel(known.ids, context)
        return TaskResult(.noData, "transfer \(same) is under way")
      }
      let enqueued = try context.call(TransfersInterface.Enqueue.self) { _ in
        .init(app: context.app, transfers: [request])
      }
      // Cancel only now, so that the session stays alive, and a full queue loses nothing.
      try cancel(known.ids, context)
      let place = known.ids.map(String.init).joined(separator: ", ")
      let text = enqueued.ids.first.map { "transfer \($0) is in the queue" } ?? "nothing to do"
      return TaskResult(.newData, place.isEmpty ? text : "\(text) in place of \(place), which had another URL")
    } catch {
      return TaskResult(failure(error))
    }
  }

  /// Cancels the downloads to the same file from other URLs; ignores a download that has already ended.
  private static func cancel(_ ids: [Int64], _ context: TaskContext) throws(ClientError) {
    for id in ids {
      do throws(ClientError) {
        _ = try context.call(TransfersInterface.Cancel.self) { _ in .init(ids: [id]) }
      } catch .failed(let reply)
        where [TransfersInterface.AlreadyEnded.name, TransfersInterface.NoSuchTransfer.name].contains(reply.name)
      {
        continue
      }
    }
  }

  /// The failure of a call to the daemon.
  private static func failure(_ error: ClientError) -> TaskFailure {
    let sentence = "cannot queue the download: \(error)"
    guard case .failed(let reply) = error else {
      if case .malformed = error { return TaskFailure(.failed, sentence) }
      return TaskFailure(.retry(after: nil), sentence)
    }
    guard reply.name == TransfersInterface.InvalidRequest.name else {
      return TaskFailure(mayPass(reply.name) ? .retry(after: nil) : .failed, sentence)
    }
    do throws(ClientError) {
      let invalid = try reply.parameters(as: TransfersInterface.InvalidRequest.self)
      return TaskFailure(.failed, "\(invalid.field): \(invalid.reason); \(invalid.remedy)")
    } catch {
      return TaskFailure(.failed, "cannot queue the download: \(error)")
    }
  }

  /// Whether the daemon may accept the transfer later, by the name of its error.
  static func mayPass(_ error: String) -> Bool {
    [RefreshdInterface.NotStored.name, TransfersInterface.QueueFull.name].contains(error)
  }
}
