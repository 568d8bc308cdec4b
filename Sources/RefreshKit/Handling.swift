import RefreshAPI
import Varlink

/// A handler at work.
struct Handling {
  let task: Task<Void, Never>
  let expiration: Expiration
}

/// The handler: run, warned and cancelled as ``Serving`` says.
extension RefreshClient {
  func serve(_ event: Serving.Event) {
    let wasOccupied = serving.isOccupied
    for effect in serving.handle(event, at: .now) { perform(effect) }
    if wasOccupied, !serving.isOccupied { extend() }
    arm()
  }

  private func perform(_ effect: Serving.Effect) {
    switch effect {
    case .start(let order): start(order)
    case .expire: handling?.expiration.expire()
    case .cancel: handling?.task.cancel()
    case .complete(let token, let completion): complete(token, completion)
    }
  }

  private func start(_ order: Serving.Order) {
    // Whoever is attached has a handler.
    guard let handler else { return }
    let context = RefreshContext(order)
    // Detached, so that what the handler does before its first suspension does not hold up the client's thread.
    let task = Task.detached { [weak self] in
      let completion: Completion
      do {
        completion = Completion(try await handler(context))
      } catch {
        completion = Completion(error)
      }
      context.expiration.end()
      await self?.serve(.returned(id: order.id, completion))
    }
    handling = Handling(task: task, expiration: context.expiration)
    subscribers.tell(.started(id: order.id, order.trigger))
  }

  private func complete(_ token: String, _ completion: Completion) {
    do throws(ClientError) {
      try tell(
        AppInterface.Complete.self,
        AppInterface.Complete.Parameters(
          token: token, outcome: completion.outcome.onTheWire, message: completion.message,
          retryAfterMicroseconds: completion.retryAfter?.microseconds))
    } catch {
      // The daemon would wait until the deadline; without the attachment it knows at once that the refresh has failed.
      broke(RefreshError(error, at: socket))
    }
  }
}
