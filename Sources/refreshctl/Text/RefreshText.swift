import RefreshAPI

extension Screen {
  /// A refresh that has ended, with its tasks if they add anything to its outcome.
  func summary(_ refresh: Wire.Refresh) -> [String] {
    let result = result(of: refresh)
    let spent = "took \(Elapsed.measured(refresh.durationMicroseconds)), \(refresh.spent)"
    let line = "\(clock(refresh.startedMicroseconds)), \(result), \(spent) (\(refresh.trigger.hyphenated))"
    let hasDetails = refresh.tasks.contains { !$0.message.isEmpty || $0.cause != nil }
    guard refresh.tasks.count > 1 || hasDetails else { return [line] }
    return [line] + refresh.tasks.map(task)
  }

  /// The end of a refresh in one line, for `run`.
  func ending(_ refresh: Wire.Refresh) -> String {
    let spent = "\(Elapsed.measured(refresh.durationMicroseconds)), \(refresh.spent)"
    let result = refresh.endOfTasks == nil ? result(refresh.outcome, refresh.cause, after: spent) : result(of: refresh)
    return "\(printable(refresh.app)): \(result)"
  }

  /// The outcome of a refresh in its colour, and its cause; of several tasks each, `failed: push (exit code 3); pull: no data`.
  private func result(of refresh: Wire.Refresh) -> String {
    guard let end = refresh.endOfTasks else { return result(refresh.outcome, refresh.cause) }
    return paint(refresh.outcome.words, refresh.outcome.style) + ": " + printable(end)
  }

  /// The outcome in its colour, and its cause, `failed: exit code 3`; for a refresh that refreshd ended, only the cause.
  func result(_ outcome: Wire.Outcome, _ cause: Wire.Cause?) -> String {
    if let cause, cause.isNoFailure { return paint(printable(cause.text), .wait) }
    return paint(outcome.words, outcome.style) + (cause.map { ": " + printable($0.text) } ?? "")
  }

  /// The outcome, the duration, and the cause: `failed after 2 s: exit code 3`.
  func result(_ outcome: Wire.Outcome, _ cause: Wire.Cause?, after spent: String) -> String {
    if let cause, cause.isNoFailure { return "\(result(outcome, cause)) after \(spent)" }
    return "\(paint(outcome.words, outcome.style)) after \(spent)" + (cause.map { ": " + printable($0.text) } ?? "")
  }

  /// The refreshes of an app and its dropped pushes, a line each.
  func text(_ history: ManagerInterface.History.Reply, of app: String) -> [String] {
    let dropped = history.pushesDropped ?? []
    guard !history.refreshes.isEmpty || !dropped.isEmpty else {
      return wrapped("\(app) has not been refreshed yet. `refreshctl why \(app)` tells when it will be, or why not.")
    }
    var table = Table(titles: ["STARTED", "ID", "TRIGGER", "OUTCOME", "TOOK", "CPU", "DETAIL"], prose: 6)
    let rows =
      history.refreshes.map { ($0.startedMicroseconds, row($0)) } + dropped.map { ($0.droppedMicroseconds, row($0)) }
    table.rows = rows.sorted { $0.0 > $1.0 }.map(\.1)
    return table.lines(on: self)
  }

  private func row(_ refresh: Wire.Refresh) -> [Cell] {
    [
      Cell(clock(refresh.startedMicroseconds, seconds: true)), Cell(refresh.id, .faint),
      Cell(refresh.trigger.hyphenated),
      outcome(refresh), Cell(Elapsed.measured(refresh.durationMicroseconds)),
      Cell(Elapsed.measured(refresh.cpuMicroseconds)), Cell(detail(refresh)),
    ]
  }

  private func row(_ push: Wire.DroppedPush) -> [Cell] {
    let what = "\(content(push.contentID))\(others(push.merged)), came \(clock(push.arrivedMicroseconds))"
    return [
      Cell(clock(push.droppedMicroseconds, seconds: true)), "", Cell(Wire.Trigger.push.hyphenated),
      Cell("dropped", .bad),
      "", "", Cell("\(what): \(push.reason)"),
    ]
  }

  private func detail(_ refresh: Wire.Refresh) -> String {
    let late = refresh.extraCompletions == 0 ? [] : [count(refresh.extraCompletions, "completion") + " too many"]
    let push = refresh.merged.map { [content(refresh.contentID) + others($0)] } ?? []
    let cause = [refresh.endOfTasks ?? refresh.cause?.text].compactMap(\.self)
    return (push + cause + refresh.messages + late).joined(separator: "; ")
  }

  /// The outcome of a refresh for a column: `no data`, `failed`, `stopped`.
  func outcome(_ refresh: Wire.Refresh) -> Cell {
    if refresh.cause?.isNoFailure == true { return Cell("stopped", .wait) }
    return Cell(refresh.outcome.words, refresh.outcome.style)
  }

  private func task(_ task: Wire.RefreshTask) -> String {
    if let cause = task.cause, cause.kind == .notRun { return "\(printable(task.name)): \(printable(cause.text))" }
    let isSaid = task.message.isEmpty || task.message == task.cause?.text
    let message = isSaid ? "" : ", “\(printable(task.message))”"
    return "\(printable(task.name)): "
      + result(task.outcome, task.cause, after: Elapsed.measured(task.durationMicroseconds)) + message
  }
}

extension Wire.Outcome {
  var style: Style {
    switch self {
    case .newData: .good
    case .noData: .plain
    case .failed: .bad
    }
  }
}

extension Wire.Cause {
  /// Whether refreshd ended the refresh for a reason other than the app's: any stop but the deadline.
  var isNoFailure: Bool { kind == .stopped && stopReason != .deadline }
}

extension Wire.Refresh {
  /// Whether a task found new data, also if another failed.
  var foundNew: Bool { outcome == .newData || tasks.contains { $0.outcome == .newData } }

  /// How each task ended, those that failed first, if one of several failed: `push (exit code 3); pull: new data`.
  fileprivate var endOfTasks: String? {
    guard tasks.count > 1, outcome == .failed, cause?.isNoFailure != true else { return nil }
    let failed = tasks.compactMap { task in task.cause.map { "\(task.name) (\($0.text))" } }
    let others = tasks.filter { $0.cause == nil }.map { "\($0.name): \($0.outcome.words)" }
    return ([failed.joined(separator: ", ")] + others).joined(separator: "; ")
  }
}
