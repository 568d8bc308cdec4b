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
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    let hints: TaskCompletion.Hints
    do throws(InvalidParameter) { hints = try TaskCompletion.Hints(call.parameters) } catch { return call.fail(error) }
    let before = engine.outcome(of: key.refresh, task: key.task)
    let message = OutputLines.message(of: call.parameters.message ?? "")
    let outcome = Outcome(call.parameters.outcome, message: message)
    handle(.completed(key.refresh, task: key.task, outcome, message: message))
    if before == nil {
      for event in events(of: hints, key.refresh) { handle(event) }
      launcher.keep(TaskCompletion(outcome, message: message, hints: hints), of: key)
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

extension Daemon {
  /// What the engine must hear of a task's hints.
  ///
  /// That there will be nothing new counts for the whole refresh, so each of several tasks has to say it: all of them
  /// fetch, and one that says nothing says that there may be something new at once.
  func events(of hints: TaskCompletion.Hints, _ refresh: RefreshID) -> [Event] {
    var events = hints.retryAfter.map { [Event.retryAfter(refresh, $0)] } ?? []
    guard let running = refreshes.running[refresh] else { return events }
    let commands = running.performer == nil ? running.app.commands : []
    if commands.count <= 1 {
      if let freshFor = hints.freshFor { events.append(.freshFor(refresh, freshFor)) }
    } else if commands.allSatisfy({ $0.fetch != nil }) {
      events.append(.freshFor(refresh, hints.freshFor ?? .zero))
    }
    return events
  }
}

extension TaskCompletion.Hints {
  /// Throws for a span below zero.
  fileprivate init(_ parameters: AppInterface.Complete.Parameters) throws(InvalidParameter) {
    func span(_ microseconds: Int64?, _ name: String) throws(InvalidParameter) -> Duration? {
      guard let microseconds else { return nil }
      guard microseconds >= 0 else { throw InvalidParameter(parameter: name) }
      return .microseconds(microseconds)
    }
    retryAfter = try span(parameters.retryAfterMicroseconds, "retry_after_us")
    freshFor = try span(parameters.freshForMicroseconds, "fresh_for_us")
    if retryAfter == nil, parameters.temporary == true { retryAfter = .zero }
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
