import RefreshAPI

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
    case .merged: "\(push) has arrived, instead of one that waited"
    case .told: "\(push) has arrived that wakes no app; attached processes receive it"
    case .known: "\(push) has arrived again"
    case nil: push
    }
  }
}
