import RefreshAPI

extension Screen {
  func text(_ apps: [Wire.App]) -> [String] {
    guard !apps.isEmpty else {
      return ["No apps are configured. `refreshctl status` shows the directories that the daemon reads."]
    }
    var table = Table(titles: ["APP", "PHASE", "NEXT", "LAST", "DATA AGE"], prose: 3)
    table.rows = apps.map { app in
      [
        Cell(app.id), Cell(app.phase.hyphenated, app.phase == .foreground ? .good : .plain), next(app), last(app),
        age(app),
      ]
    }
    return table.lines(on: self)
  }

  private func age(_ app: Wire.App) -> Cell {
    let age = app.freshMicroseconds.map { self.age(of: $0, brief: true) }
    guard app.staleSinceMicroseconds != nil else { return Cell(age ?? "-") }
    return Cell(age.map { "\($0), stale" } ?? "stale", .bad)
  }

  private func next(_ app: Wire.App) -> Cell {
    switch app.verdict {
    case .refreshing: Cell("refreshing", .good)
    case .ready: "now"
    case .notDue: Cell(app.dueMicroseconds.map { relative($0, brief: true) } ?? "-")
    case .held: Cell("held: \(app.holds.names)", .faint)
    }
  }

  private func last(_ app: Wire.App) -> Cell {
    guard let last = app.last else { return Cell("never", .faint) }
    let text = "\(last.outcome.words) \(relative(last.endedMicroseconds, brief: true))"
    return Cell(last.cause.map { "\(text): \($0)" } ?? text, last.outcome == .failed ? .bad : .plain)
  }
}
