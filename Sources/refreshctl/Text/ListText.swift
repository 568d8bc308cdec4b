import RefreshAPI

extension Screen {
  func text(_ list: ManagerInterface.List.Reply) -> [String] {
    list.apps.isEmpty ? wrapped(noApps(butOfOthers: list.hasAppsOfOthers)) : text(list.apps)
  }

  /// The sentences for a caller without apps.
  func noApps(butOfOthers hasAppsOfOthers: Bool?) -> String {
    hasAppsOfOthers == true
      ? "You have no apps. There are apps of other users. Ask their owners, root or a member of the group refreshd about them."
      : "No apps are configured. `refreshctl status` shows the directories that the daemon reads."
  }

  func text(_ apps: [Wire.App]) -> [String] {
    let rows = apps.map { row($0) }
    let brief = apps.map { row($0, hasBriefHolds: true) }
    // Usually no app is held, and the column needs room.
    let held: [AppColumn] = rows.contains { !$0.heldBy.text.isEmpty } ? [.heldBy] : []
    let all = [.app, .phase, .next] + held + [.last, .age]
    // Most apps are in the background, and the last result contains the age, unless an app is stale.
    let phase: Set<AppColumn> = apps.contains { $0.phase != .background } ? [] : [.phase]
    let age: Set<AppColumn> = apps.contains { $0.staleSinceMicroseconds != nil } ? [] : [.age]
    let layouts = [[], phase, age, phase.union(age)].map { less in all.filter { !less.contains($0) } }
    let mostOfLast = rows.map { $0.last.brief }.max() ?? 0
    // Whole ids come first, then the last results, then all holds. If ids are cut, their column gets the room of the
    // others.
    let whole = [rows, brief].flatMap { rows in layouts.map { AppColumn.table($0, rows, keepsIDs: true) } }
    let cut = layouts.reversed().map { AppColumn.table($0, brief, keepsIDs: false) }
    let best = (whole + cut).first { ($0.width(of: AppColumn.last.rawValue, on: self) ?? 0) >= mostOfLast }
    return (best ?? cut.first { $0.fits(on: self) } ?? whole[0]).lines(on: self)
  }

  /// The cells of an app, for `list` and `top`.
  ///
  /// With `hasBriefHolds`, the cells name only the first holds.
  func row(_ app: Wire.App, hasBriefHolds: Bool = false) -> AppRow {
    AppRow(
      app: Cell(app.id), phase: Cell(app.phase.hyphenated, app.phase == .foreground ? .good : .plain), next: next(app),
      heldBy: Cell(holds(app, isBrief: hasBriefHolds), .faint), last: last(app), age: age(app))
  }

  private func age(_ app: Wire.App) -> Cell {
    let age = app.freshMicroseconds.map { self.age(of: $0, brief: true) }
    guard app.staleSinceMicroseconds != nil else { return Cell(age ?? "-") }
    return Cell(age.map { "\($0), stale" } ?? "stale", .bad)
  }

  /// The time of the next start; if unknown, the time at which it is due.
  private func next(_ app: Wire.App) -> Cell {
    if app.verdict == .refreshing { return Cell("refreshing", .good) }
    if app.verdict == .ready { return "now" }
    if let guarded = app.guarded { return next(guarded, app.verdict) }
    let due = app.next == nil ? app.dueMicroseconds : app.next?.due?.earliestMicroseconds
    guard let next = app.next, !next.holds.isEmpty else {
      return Cell(due.map { app.verdict == .held ? "-" : relative($0, brief: true) } ?? "-")
    }
    if let start = next.start { return Cell(relative(start.earliestMicroseconds, brief: true)) }
    guard app.verdict == .notDue, let due else { return Cell("-", .faint) }
    return Cell("due \(relative(due, brief: true))", .faint)
  }

  /// Whether the unit of a guard may run.
  private func next(_ guarded: Wire.Guarded, _ verdict: Wire.Verdict) -> Cell {
    if guarded.trouble != nil { return Cell("trouble", .bad) }
    if verdict != .held { return Cell("may run", .good) }
    return Cell(guarded.isKept ? (guarded.means == "freeze" ? "frozen" : "stopped") : "may not run", .faint)
  }

  /// The holds that keep it now or when it is due, and a waiting push.
  private func holds(_ app: Wire.App, isBrief: Bool) -> String {
    let holds = app.next?.holds ?? app.holds
    // Beside a start time, the holds end then; beside a due time, they begin then.
    let then = app.verdict == .held ? "" : app.next?.start == nil ? "then " : "until then "
    let push: [String] =
      switch app.pushWait {
      case nil, "ready", "turn": []
      case _ where isBrief: ["push"]
      case "terminated": ["push: app quit"]
      case let wait?: ["push: \(printable(wait))"]
      }
    let names =
      app.late != nil && holds.map(\.name) == ["app"]
      ? "late" : isBrief && holds.count > 2 ? "\(Array(holds.prefix(1)).names), +\(holds.count - 1)" : holds.names
    return ((holds.isEmpty ? [] : [then + names]) + push).joined(separator: "; ")
  }

  private func last(_ app: Wire.App) -> Cell {
    guard let last = app.last else { return Cell(app.guarded == nil ? "never" : "-", .faint) }
    let ended = relative(last.endedMicroseconds, brief: true)
    if let cause = last.cause, let reason = last.stopReason, reason != .deadline {
      let stopped = "stopped: "
      let reason = cause.hasPrefix(stopped) ? String(cause.dropFirst(stopped.count)) : cause
      return Cell("stopped \(ended): \(reason)", .wait)
    }
    let text = "\(last.outcome.words) \(ended)"
    return Cell(last.cause.map { "\(text): \($0)" } ?? text, last.outcome == .failed ? .bad : .plain)
  }
}

/// A column of the tables of apps, with its title.
enum AppColumn: String {
  case app = "APP"
  case phase = "PHASE"
  case next = "NEXT"
  case heldBy = "HELD BY"
  case last = "LAST"
  case age = "DATA AGE"

  func cell(of row: AppRow) -> Cell {
    switch self {
    case .app: row.app
    case .phase: row.phase
    case .next: row.next
    case .heldBy: row.heldBy
    case .last: row.last
    case .age: row.age
    }
  }

  /// Makes a table of these columns, which cuts the last results first.
  static func table(_ columns: [AppColumn], _ rows: [AppRow], keepsIDs: Bool) -> Table {
    let prose = columns.firstIndex(of: .last) ?? columns.count - 1
    var table = Table(titles: columns.map(\.rawValue), prose: prose, keepsIdentity: keepsIDs)
    table.rows = rows.map { row in columns.map { $0.cell(of: row) } }
    return table
  }
}

/// An app as a row of a table.
struct AppRow {
  let app: Cell
  let phase: Cell
  let next: Cell
  let heldBy: Cell
  let last: Cell
  let age: Cell
}

extension Cell {
  /// The width of the part before a colon: for a last result, its outcome and time.
  var brief: Int { TextWidth.of(String(text.prefix { $0 != ":" })) }
}
