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
      return wrapped("\(app) has not been refreshed yet. `refreshctl why \(app)` says when it will be, or why not.")
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
  /// Whether refreshd stopped the refresh through no fault of the app: for any reason but the deadline.
  var isNoFailure: Bool { kind == .stopped && stopReason != .deadline }
}

extension Wire.Refresh {
  /// Whether a task found new data, even if another failed.
  var foundNew: Bool { outcome == .newData || tasks.contains { $0.outcome == .newData } }

  /// How each task ended, those that failed first, if one of several failed: `push (exit code 3); pull: new data`.
  fileprivate var endOfTasks: String? {
    guard tasks.count > 1, outcome == .failed, cause?.isNoFailure != true else { return nil }
    let failed = tasks.compactMap { task in task.cause.map { "\(task.name) (\($0.text))" } }
    let others = tasks.filter { $0.cause == nil }.map { "\($0.name): \($0.outcome.words)" }
    return ([failed.joined(separator: ", ")] + others).joined(separator: "; ")
  }

  /// The processor time and, if counted, the network traffic of the refresh.
  var spent: String {
    let bytes = tasks.compactMap(\.bytes).reduce(0, +)
    let network = bytes > 0 ? ", \(ByteCount.text(bytes)) of network" : ""
    return "\(Elapsed.measured(cpuMicroseconds)) CPU\(network)"
  }
}

extension Screen {
  /// An event in one line, after its time; nil for `watching`, which only confirms the call.
  func line(_ event: Wire.WatchEvent) -> String? {
    guard event.kind != .watching else { return nil }
    let time = paint(clock(event.atMicroseconds, seconds: true), .faint)
    let app = event.app.map { printable($0) + ": " } ?? ""
    return "\(time)  \(app)\(words(event))"
  }

  private func words(_ event: Wire.WatchEvent) -> String {
    switch event.kind {
    case .watching: ""
    case .started: "refresh \(printable(event.id ?? "")) starts (\(event.trigger?.hyphenated ?? ""))"
    case .ended: event.refresh.map(words) ?? "ended"
    case .held: "\(paint("held", .bad)): \(event.holds?.names ?? "")"
    case .released: event.wait.map(words) ?? "released"
    case .phaseChanged: event.phase?.words ?? ""
    case .conditionChanged: condition(event)
    case .switchChanged: userSwitch(event)
    case .stale: paint("stale", .bad) + (event.sinceMicroseconds.map { ": its data is of \(clock($0))" } ?? "")
    case .attached: "a process has attached"
    case .detached: "no process is attached any more"
    case .push: push(event)
    case .progress: printable("\(event.task ?? ""): \(event.text ?? "")")
    case .taskEnded: taskEnded(event)
    }
  }

  private func words(_ refresh: Wire.Refresh) -> String {
    "refresh \(printable(refresh.id)): "
      + result(refresh.outcome, refresh.cause, after: Elapsed.measured(refresh.durationMicroseconds))
  }

  private func taskEnded(_ event: Wire.WatchEvent) -> String {
    let text = event.text.map { ": \(printable($0))" } ?? ""
    return "\(printable(event.task ?? "")) of refresh \(printable(event.id ?? "")) has ended: "
      + (event.outcome.map { result($0, nil) } ?? "") + text
  }

  private func words(_ wait: Wire.Wait) -> String {
    "no longer held by \(printable(wait.holds.joined(separator: ", "))), after \(wait.span)"
  }

  private func condition(_ event: Wire.WatchEvent) -> String {
    let name = printable(String((event.condition ?? "").map { $0 == "_" ? " " : $0 }))
    let source = event.state.flatMap { $0.source.isEmpty ? nil : " (\(printable($0.source)))" } ?? ""
    return "\(name): \(printable(event.state?.value ?? "unknown"))\(source)"
  }

  private func userSwitch(_ event: Wire.WatchEvent) -> String {
    if let isDisabled = event.isDisabled { return isDisabled ? paint("disabled", .bad) : paint("enabled", .good) }
    return event.pause.map { "all apps are paused \(end($0))" } ?? "the pause of all apps has ended"
  }

  private func push(_ event: Wire.WatchEvent) -> String {
    let push = "a push" + (event.contentID.map { " with content \(printable($0))" } ?? "")
    return switch event.fate {
    case .queued: "\(push) has arrived"
    case .merged: "\(push) has arrived, instead of a waiting push"
    case .told: "\(push) has arrived, but wakes no app; attached processes receive it"
    case .known: "\(push) has arrived again"
    case nil: push
    }
  }
}

extension Wire.RunEvent {
  /// A step of `run` in one line.
  func words(about app: String) -> String {
    let app = printable(app)
    switch kind {
    case .queued:
      let running = id.map { " (\(printable($0)))" } ?? ""
      return "\(app) is being refreshed\(running); another refresh follows when that has ended"
    case .held: return "\(app) is held: \((holds ?? []).namesAndRemedies)"
    case .started: return "\(app): refresh \(printable(id ?? "")) has started"
    case .output: return "\(printable(task ?? "")): \(printable(text ?? ""))"
    case .finished: return "\(app): " + (refresh?.outcome.words ?? "the refresh has ended")
    }
  }
}
