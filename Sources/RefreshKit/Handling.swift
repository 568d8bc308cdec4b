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
    case .expire(let deadline): handling?.expiration.expire(deadline: deadline)
    case .cancel: handling?.task.cancel()
    case .complete(let token, let completion):
      // At once, so that a client that is closed now has told it.
      Task.immediate { await complete(token, completion) }
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

  /// Tells the daemon how a refresh went; after the last attempt, attaches anew.
  ///
  /// A daemon that has not heard of it would wait until the deadline and hand out nothing more. Without the attachment
  /// it knows at once that the refresh has failed.
  private func complete(_ token: String, _ completion: Completion) async {
    let parameters = AppInterface.Complete.Parameters(
      token: token, outcome: completion.outcome.onTheWire, message: completion.message,
      retryAfterMicroseconds: completion.retryAfter?.microseconds)
    for attempt in 1...Completion.attempts {
      do throws(CallFailure) {
        _ = try await call(AppInterface.Complete.self, parameters)
        return
      } catch .failed(.failed(let reply)) where Completion.isOver(reply.name) {
        return
      } catch .failed(.unreachable) where attempt < Completion.attempts {
        // It ends early only in a task that is cancelled, and nobody cancels this one.
        try? await Task.sleep(for: BackOff.pause(after: attempt, chance: .random(in: 0...1)))
      } catch {
        return broke(RefreshError(error, at: socket))
      }
    }
  }
}

extension Completion {
  /// How often it is tried to reach the daemon: for 3 s at most, so within the usual grace.
  fileprivate static let attempts = 6

  /// Whether the daemon, which answers this error, knows that the refresh has ended.
  fileprivate static func isOver(_ name: String) -> Bool {
    name == RefreshdInterface.NoSuchToken.name || name == AppInterface.AlreadyCompleted.name
  }
}
