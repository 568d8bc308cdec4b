import Glibc
import RefreshAPI
import Varlink

/// The built-in task `transfer`: has a file downloaded by a background transfer, and does not wait for it.
enum EnqueueTask {
  /// Does it, and gives the exit code.
  static func run() -> Int32 {
    let trouble = Confinement.enter()
    guard let surroundings = Surroundings(), let request = Surroundings.order(as: Wire.Request.self) else {
      return EX_USAGE
    }
    if let trouble { return surroundings.end(TaskResult(trouble)) }
    surroundings.endInTime()
    return surroundings.end(result(of: request, surroundings))
  }

  private static func result(of request: Wire.Request, _ surroundings: Surroundings) -> TaskResult {
    // Or every end of the transfer would be the beginning of the next one.
    guard surroundings.trigger != "transfer" else { return TaskResult(.noData, "woken because transfers have ended") }
    do throws(ClientError) {
      let queue = try surroundings.call(TransfersInterface.List.self) { _ in .init(app: surroundings.app) }
      if let waiting = queue.transfers.first(where: { $0.path == request.path && $0.state != .ended }) {
        return TaskResult(.noData, "transfer \(waiting.id) is under way")
      }
      let enqueued = try surroundings.call(TransfersInterface.Enqueue.self) { _ in
        .init(app: surroundings.app, transfers: [request])
      }
      return TaskResult(.newData, enqueued.ids.first.map { "transfer \($0) is in the queue" } ?? "nothing to do")
    } catch {
      return TaskResult(trouble(error))
    }
  }

  /// Why it is not in the queue.
  private static func trouble(_ error: ClientError) -> Trouble {
    let sentence = "cannot have it downloaded: \(error)"
    guard case .failed(let reply) = error else {
      if case .malformed = error { return Trouble(.failed, sentence) }
      return Trouble(.retry(after: nil), sentence)
    }
    guard reply.name == TransfersInterface.InvalidRequest.name else {
      return Trouble(mayPass(reply.name) ? .retry(after: nil) : .failed, sentence)
    }
    do throws(ClientError) {
      let invalid = try reply.parameters(as: TransfersInterface.InvalidRequest.self)
      return Trouble(.failed, "\(invalid.field): \(invalid.reason); \(invalid.remedy)")
    } catch {
      return Trouble(.failed, "cannot have it downloaded: \(error)")
    }
  }

  /// Whether what cannot be taken now, as an error of the daemon says, may be later.
  static func mayPass(_ error: String) -> Bool {
    [RefreshdInterface.NotStored.name, TransfersInterface.QueueFull.name].contains(error)
  }
}
