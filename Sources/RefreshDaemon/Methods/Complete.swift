import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Takes a task's own word for how it went.
  ///
  /// Its token says who it is, whoever holds it; that of an attached app is its user's alone.
  func complete(_ call: Call<AppInterface.Complete.Parameters>) {
    guard let key = refreshes.task(of: call.parameters.token), mayComplete(key.refresh, call.peer) else {
      wakeLate(by: call.parameters.token, call.peer)
      return call.fail(AppInterface.NoSuchToken())
    }
    let retryAfter = call.parameters.retryAfterMicroseconds
    if let retryAfter, retryAfter < 0 { return call.fail(InvalidParameter(parameter: "retry_after_us")) }
    let before = engine.outcome(of: key.refresh, task: key.task)
    let message = OutputLines.message(of: call.parameters.message ?? "")
    let outcome = Outcome(call.parameters.outcome, message: message)
    handle(.completed(key.refresh, task: key.task, outcome, message: message))
    if before == nil {
      if let retryAfter { handle(.retryAfter(key.refresh, .microseconds(retryAfter))) }
      launcher.keep(
        Completion(outcome, message: message, retryAfter: retryAfter.map { .microseconds($0) }), of: key)
    }
    if refreshes.running[key.refresh]?.performer != nil {
      // There is no process whose end would be waited for.
      handle(.taskEnded(key.refresh, task: key.task, TaskEnd(exit: .exited(0))))
    }
    if let before {
      call.fail(AppInterface.AlreadyCompleted(outcome: Wire.Outcome(before)))
    } else {
      call.reply(AppInterface.Complete.Reply())
    }
  }
}

extension Outcome {
  /// What a task says of itself.
  fileprivate init(_ outcome: Wire.Outcome, message: String) {
    self =
      switch outcome {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed(.reported(message))
      }
  }
}
