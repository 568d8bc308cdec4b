import RefreshAPI

/// The hours before and after now, a row for each app: what the terminal and the picture both draw.
struct Timeline {
  /// Something at a moment.
  struct Mark: Equatable {
    /// What it is, the one that hides the others of its place last.
    enum Kind: Int, CaseIterable {
      case planned, noData, newData, failed, refreshing
    }

    let kind: Kind
    /// Microseconds of the wall clock.
    let at: Int64
    /// Why it started, and what came of it where that is more than its kind says.
    let detail: String
  }

  /// A time in which the app was due and held.
  struct Wait: Equatable {
    /// Microseconds of the wall clock.
    let from: Int64
    /// Microseconds of the wall clock.
    let until: Int64
    let holds: [String]
  }

  /// One app.
  struct Row {
    let app: String
    /// In order of time.
    let marks: [Mark]
    let waits: [Wait]
    /// Why nothing is planned, if nothing is.
    let note: String?
  }

  /// Microseconds of the wall clock, as all of them.
  let from: Int64
  let now: Int64
  let until: Int64
  let rows: [Row]
  /// How many apps more there are.
  let leftOut: Int
  /// Whether more is planned than the daemon tells.
  let isCut: Bool
}

extension Timeline {
  init(_ answers: TimelineAnswers, now: Int64) {
    var planned: [String: [Mark]] = [:]
    for wake in answers.forecast.wakes {
      for start in wake.starts {
        planned[start.app, default: []].append(
          Mark(kind: .planned, at: wake.window.earliestMicroseconds, detail: start.trigger.spelled))
      }
    }
    let rest = Dictionary(answers.forecast.rest.map { ($0.app, $0) }, uniquingKeysWith: { first, _ in first })
    self.init(
      from: answers.sinceMicroseconds, now: now, until: now + (now - answers.sinceMicroseconds),
      rows: answers.apps.map { app in
        let (past, next) = (app.timeline, planned[app.app] ?? [])
        return Row(
          app: app.app,
          marks: past.past.compactMap(\.refresh).reversed().map(Mark.init)
            + (past.running.map { [Mark($0)] } ?? []) + next,
          waits: past.past.compactMap(\.wait).reversed().map(Wait.init)
            + (past.waiting.map { [Wait($0, until: now)] } ?? []),
          note: next.isEmpty ? rest[app.app]?.note : nil)
      },
      leftOut: answers.leftOut, isCut: answers.forecast.isCut)
  }

  /// What the picture says in a sentence.
  func sentence(on screen: Screen) -> String {
    let marks = rows.flatMap(\.marks)
    func number(_ kind: Mark.Kind) -> Int { marks.count { $0.kind == kind } }
    let failed = number(.failed) > 0 ? ", \(number(.failed)) failed" : ""
    let ended = count(number(.newData) + number(.noData) + number(.failed), "refresh", "refreshes")
    let hours = Elapsed.stretch(now - from)
    let planned = "\(number(.planned)) \(isCut ? "and more " : "")planned in the next \(hours)"
    let whose = rows.count == 1 ? rows.first.map { printable($0.app) } ?? "" : count(rows.count, "app")
    let others = leftOut > 0 ? " \(count(leftOut, "app")) more: name one to see it." : ""
    return "\(whose): \(ended) in the last \(hours)\(failed); \(planned).\(others)"
  }
}

extension Timeline.Mark {
  fileprivate init(_ refresh: Wire.Refresh) {
    let cause = refresh.cause.map { ": \(printable($0.text))" } ?? ""
    let kind: Kind =
      switch refresh.outcome {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed
      }
    self.init(
      kind: kind, at: refresh.startedMicroseconds,
      detail: "\(refresh.trigger.spelled), \(Elapsed.measured(refresh.durationMicroseconds))\(cause)")
  }

  fileprivate init(_ running: Wire.Running) {
    self.init(kind: .refreshing, at: running.startedMicroseconds, detail: running.trigger.spelled)
  }
}

extension Timeline.Mark.Kind {
  /// The kind as a person reads it.
  var words: String {
    switch self {
    case .planned: "planned"
    case .noData: "no data"
    case .newData: "new data"
    case .failed: "failed"
    case .refreshing: "refreshing"
    }
  }
}

extension Timeline.Wait {
  fileprivate init(_ wait: Wire.Wait) {
    self.init(from: wait.sinceMicroseconds, until: wait.untilMicroseconds, holds: wait.holds.map(printable))
  }

  fileprivate init(_ waiting: Wire.Waiting, until now: Int64) {
    self.init(from: waiting.sinceMicroseconds, until: now, holds: waiting.holds.map(printable))
  }
}

extension Wire.ForecastRest {
  /// Why the app does not start, in a few words; nothing for one that is only not due.
  fileprivate var note: String? {
    holds.isEmpty ? nil : "held: " + holds.map { printable($0.name) }.joined(separator: ", ")
  }
}
