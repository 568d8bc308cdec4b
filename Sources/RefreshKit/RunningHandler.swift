import RefreshAPI

/// A handler at work.
struct RunningHandler {
  let task: Task<Void, Never>
  let expiration: Expiration
}

/// Runs, warns and cancels the handler, as ``Serving`` decides.
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
    case .expire(let deadline): runningHandler?.expiration.expire(deadline: deadline)
    case .cancel: runningHandler?.task.cancel()
    case .complete(let token, let completion):
      // Immediately, so that the completion is sent before a following close().
      Task.immediate { await complete(token, completion) }
    }
  }

  private func start(_ order: Serving.Order) {
    // Every attached client has a handler.
    guard let handler else { return }
    let context = RefreshContext(order)
    // Detached, so that the handler's code before its first suspension does not block the client's thread.
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
    runningHandler = RunningHandler(task: task, expiration: context.expiration)
    subscribers.publish(.started(id: order.id, order.trigger))
  }

  /// Sends the completion of a refresh to the daemon; after the last failed attempt, attaches again.
  ///
  /// Without the completion the daemon would wait until the deadline and send no further refresh. When the attachment
  /// ends, the daemon knows at once that the refresh has failed.
  private func complete(_ token: String, _ completion: Completion) async {
    let parameters = AppInterface.Complete.Parameters(
      token: token, outcome: Wire.Outcome(completion.outcome), message: completion.message,
      retryAfterMicroseconds: completion.retryAfter?.microseconds)
    for attempt in 1...Completion.attempts {
      do throws(CallFailure) {
        _ = try await call(AppInterface.Complete.self, parameters)
        return
      } catch .failed(.failed(let reply)) where Completion.isOver(reply.name) {
        return
      } catch .failed(.unreachable) where attempt < Completion.attempts {
        // The sleep ends early only if the task is cancelled, and nothing cancels this task.
        try? await Task.sleep(for: ReconnectBackOff.pause(after: attempt, chance: .random(in: 0...1)))
      } catch {
        return broke(RefreshError(error, at: socket))
      }
    }
  }
}

extension Completion {
  /// The number of attempts: they take at most 3 s, which is within the default grace period.
  fileprivate static let attempts = 6

  /// Whether this error means that the daemon has already ended the refresh.
  fileprivate static func isOver(_ name: String) -> Bool {
    name == RefreshdInterface.NoSuchToken.name || name == AppInterface.AlreadyCompleted.name
  }
}
