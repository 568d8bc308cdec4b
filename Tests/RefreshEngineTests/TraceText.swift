import RefreshEngine

extension Timeline {
  /// Writes `end REFRESH APP OUTCOME`, then the unusual facts: the stop reason, extra completions, a late end, several
  /// tasks.
  func text(of record: RefreshRecord) -> String {
    var line = "end \(record.id) \(record.app.name) \(text(of: record.outcome))"
    if let reason = record.stopReason { line += " (\(reason.rawValue))" }
    if record.extraCompletions > 0 { line += " extra=\(record.extraCompletions)" }
    if record.endedAt != instant { line += " at \(timeText(record.endedAt))" }
    if record.tasks.count > 1 {
      line += " [\(record.tasks.map { "\($0.name) \(text(of: $0.outcome))" }.joined(separator: ", "))]"
    }
    return line
  }

  func verdictText(of name: String) throws -> String {
    let id = try appID(name)
    return engine.map { text(of: $0.verdict(on: id, at: instant)) } ?? "no daemon"
  }

  /// `due WINDOW (TRIGGER), held HOLDS, starts WINDOW`, without what there is not.
  func prospectText(of name: String) throws -> String {
    guard let prospect = engine?.prospect(of: try appID(name), at: instant) else { return "refreshing" }
    let trigger = prospect.trigger.map { " (\($0.rawValue))" } ?? ""
    let due = prospect.due.map { ["due \(text(of: $0))\(trigger)"] } ?? []
    let holds = prospect.holds.map(\.name.rawValue).joined(separator: ", ")
    let start = prospect.start.map { ["starts \(text(of: $0))"] } ?? ["does not start"]
    return (due + (holds.isEmpty ? [] : ["held \(holds)"]) + start).joined(separator: ", ")
  }

  private func text(of window: Window) -> String {
    let ends = [window.earliest] + (window.latest > window.earliest ? [window.latest] : [])
    return ends.map(timeText).joined(separator: "-")
  }

  /// `forecast WINDOW: STARTS` for each wake, `forecast APP: VERDICT` for each app that does not start.
  mutating func writeForecast(for span: Duration) {
    guard let engine else { return write("forecast no daemon") }
    let forecast = Forecast(of: engine, for: span, at: instant)
    for wake in forecast.wakes {
      let starts = wake.starts.map { "\($0.app.name) (\($0.trigger.rawValue))" }
      write("forecast \(text(of: wake.window)): \(starts.joined(separator: ", "))")
    }
    for rest in forecast.rest { write("forecast \(rest.app.name): \(text(of: rest.verdict))") }
    if forecast.isCut { write("forecast cut") }
  }

  private func text(of verdict: Verdict) -> String {
    switch verdict {
    case .ready(let due): "ready \(due.trigger.rawValue)"
    case .notDue(let due): "not due until \(timeText(due.window.earliest))"
    case .held(let holds, _): "held \(holds.map(\.name.rawValue).joined(separator: ", "))"
    case .clear: "clear"
    case .refreshing(let id): "refreshing \(id)"
    }
  }

  private func text(of outcome: Outcome) -> String {
    switch outcome {
    case .newData: "new-data"
    case .noData: "no-data"
    case .failed(let cause): "failed \(text(of: cause))"
    }
  }

  private func text(of cause: Cause) -> String {
    switch cause {
    case .exit(let code): "exit \(code)"
    case .temporary(let code): "temporary \(code)"
    case .signal(let signal): "signal \(signal)"
    case .spawn(let reason): "spawn: \(reason)"
    case .reported(let message): "said: \(message)"
    case .notRun(let name): "not run after \(name)"
    case .stopped(let reason): "stopped by \(reason.rawValue)"
    case .daemonCrashed: "crashed"
    case .lostClient: "lost client"
    case .outOfMemory: "out of memory"
    }
  }
}
