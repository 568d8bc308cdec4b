import RefreshAPI

/// The hours before and after now, a row for each app, for the terminal and the picture.
struct Timeline {
  /// A refresh at a moment.
  struct Mark: Equatable {
    /// The kinds in drawing order: a later kind hides an earlier one at the same position.
    enum Kind: Int, CaseIterable {
      case planned, noData, newData, failed, refreshing
    }

    let kind: Kind
    /// Microseconds of the wall clock.
    let at: Int64
    /// The trigger, the duration and the cause of a failure.
    let detail: String
  }

  /// A span in which the app was due and held.
  struct Wait: Equatable {
    /// Microseconds of the wall clock.
    let from: Int64
    /// Microseconds of the wall clock.
    let until: Int64
    let holds: [String]
  }

  struct Row {
    let app: String
    /// The marks in order of time.
    let marks: [Mark]
    let waits: [Wait]
    /// The reason why nothing is planned.
    let note: String?
  }

  /// The beginning; all times are microseconds of the wall clock.
  let from: Int64
  let now: Int64
  let until: Int64
  let rows: [Row]
  /// The number of apps without a row.
  let leftOut: Int
  /// Whether the forecast was cut, so that more is planned.
  let isCut: Bool
}

extension Timeline {
  init(_ answers: TimelineAnswers, now: Int64) {
    var planned: [String: [Mark]] = [:]
    for wake in answers.forecast.wakes {
      for start in wake.starts {
        planned[start.app, default: []].append(
          Mark(kind: .planned, at: wake.window.earliestMicroseconds, detail: start.trigger.hyphenated))
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

  var sentence: String {
    let marks = rows.flatMap(\.marks)
    func number(_ kind: Mark.Kind) -> Int { marks.count { $0.kind == kind } }
    let failed = number(.failed) > 0 ? ", \(number(.failed)) failed" : ""
    let ended = count(number(.newData) + number(.noData) + number(.failed), "refresh", "refreshes")
    let hours = Elapsed.stretch(now - from)
    let planned = "\(number(.planned)) \(isCut ? "and more " : "")planned in the next \(hours)"
    let whose = rows.count == 1 ? rows.first.map { printable($0.app) } ?? "" : count(rows.count, "app")
    let others = leftOut > 0 ? " \(count(leftOut, "app")) more: run `refreshctl timeline APP` to see one." : ""
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
      detail: "\(refresh.trigger.hyphenated), \(Elapsed.measured(refresh.durationMicroseconds))\(cause)")
  }

  fileprivate init(_ running: Wire.Running) {
    self.init(kind: .refreshing, at: running.startedMicroseconds, detail: running.trigger.hyphenated)
  }
}

extension Timeline.Mark.Kind {
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
  /// The holds of the app, in a few words; nil if the app is only not due.
  fileprivate var note: String? {
    holds.isEmpty ? nil : "held: \(holds.names)"
  }
}
