import RefreshAPI

/// The hours before and after now, with a row for each app, for the terminal and the picture.
struct Timeline {
  /// An event at a point in time.
  struct Mark: Equatable {
    /// The kinds in drawing order: a later kind hides an earlier one at the same position.
    enum Kind: Int, CaseIterable {
      case opened, push, planned, noData, newData, failed, refreshing
    }

    let kind: Kind
    /// Microseconds of the wall clock.
    let at: Int64
    /// The trigger, the duration and the cause of a failure; empty if the kind says it all.
    let detail: String
  }

  /// A span of time.
  struct Span: Equatable {
    /// The kinds in drawing order.
    enum Kind: Int, CaseIterable {
      case quiet, foreground, waiting
    }

    let kind: Kind
    /// Microseconds of the wall clock.
    let from: Int64
    /// Microseconds of the wall clock.
    let until: Int64
    /// The holds of an app that was due.
    var holds: [String] = []
  }

  struct TimelineRow {
    let app: String
    /// The name of the app, and its id if another row has the same name.
    let label: String
    /// The marks in order of time.
    let marks: [Mark]
    let spans: [Span]
    /// The reason why nothing is planned.
    let note: String?
  }

  /// The beginning; all times are microseconds of the wall clock.
  let from: Int64
  let now: Int64
  let until: Int64
  let rows: [TimelineRow]
  /// The number of apps without a row.
  let leftOut: Int
  /// Whether the forecast was cut, so that more is planned.
  let isCut: Bool
  /// Whether there are apps that the caller may not ask about.
  var hasAppsOfOthers: Bool?
}

extension Timeline {
  init(_ answers: TimelineAnswers, on screen: Screen) {
    var planned: [String: [Mark]] = [:]
    for wake in answers.forecast.wakes {
      for start in wake.starts {
        planned[start.app, default: []].append(
          Mark(kind: .planned, at: wake.window.earliestMicroseconds, detail: start.trigger.hyphenated))
      }
    }
    let rest = Dictionary(answers.forecast.rest.map { ($0.app, $0) }, uniquingKeysWith: { first, _ in first })
    let (from, now) = (answers.sinceMicroseconds, screen.now)
    let until = now + (now - from)
    let names = Dictionary(grouping: answers.apps) { $0.why?.name ?? $0.app }
    self.init(
      from: from, now: now, until: until,
      rows: answers.apps.map { app in
        let (past, next) = (app.timeline, planned[app.app] ?? [])
        let name = app.why?.name ?? app.app
        return TimelineRow(
          app: app.app, label: names[name, default: []].count > 1 ? named(name, app.app) : printable(name),
          marks: app.visits + past.past.compactMap(\.refresh).reversed().map(Mark.init)
            + (past.running.map { [Mark($0)] } ?? []) + next,
          spans: (app.why?.quiet.map { screen.spans(of: $0, from: from, until: until) } ?? [])
            + app.foreground(until: now) + past.past.compactMap(\.wait).reversed().map(Span.init)
            + (past.waiting.map { [Span($0, until: now)] } ?? []),
          note: next.isEmpty ? rest[app.app]?.note : nil)
      },
      leftOut: answers.leftOut, isCut: answers.forecast.isCut, hasAppsOfOthers: answers.forecast.hasAppsOfOthers)
  }

  var sentence: String {
    let marks = rows.flatMap(\.marks)
    func number(_ kind: Mark.Kind) -> Int { marks.count { $0.kind == kind } }
    let failed = number(.failed) > 0 ? ", \(number(.failed)) failed" : ""
    let ended = count(number(.newData) + number(.noData) + number(.failed), "refresh", "refreshes")
    let hours = Elapsed.stretch(now - from)
    let planned = "\(grouped(number(.planned))) \(isCut ? "and more " : "")planned in the next \(hours)"
    let whose = rows.count == 1 ? rows.first.map { named($0.label, $0.app) } ?? "" : count(rows.count, "app")
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

extension TimelineAnswers.AppAnswers {
  /// The openings of the app and the arrivals of waiting pushes, in order of time.
  fileprivate var visits: [Timeline.Mark] {
    let openings = openings.map { Timeline.Mark(kind: .opened, at: $0.sinceMicroseconds, detail: "") }
    let pushes = (why?.pushes ?? []).map {
      Timeline.Mark(kind: .push, at: $0.arrivedMicroseconds, detail: content($0.contentID))
    }
    return (openings + pushes).sorted { $0.at < $1.at }
  }

  /// The spans in which the app was in the foreground, in order of time; omits spans with an unknown end.
  fileprivate func foreground(until now: Int64) -> [Timeline.Span] {
    let newest = openings.first?.sinceMicroseconds
    return openings.reversed().compactMap { opening in
      let isNow = why?.phase == .foreground && opening.sinceMicroseconds == newest
      return (opening.untilMicroseconds ?? (isNow ? now : nil)).map {
        Timeline.Span(kind: .foreground, from: opening.sinceMicroseconds, until: $0)
      }
    }
  }
}

extension Screen {
  /// The quiet hours of each day of a timeline, in steps of five minutes.
  fileprivate func spans(of quiet: Wire.QuietHours, from: Int64, until: Int64) -> [Timeline.Span] {
    let step: Int64 = 5 * 60_000_000
    var spans: [Timeline.Span] = []
    var begin: Int64?
    for at in stride(from: from / step * step, through: until, by: Int64.Stride(step)) {
      switch (begin, isQuiet(at, quiet)) {
      case (nil, true): begin = max(at, from)
      case (let since?, false):
        spans.append(Timeline.Span(kind: .quiet, from: since, until: at))
        begin = nil
      default: break
      }
    }
    return spans + (begin.map { [Timeline.Span(kind: .quiet, from: $0, until: until)] } ?? [])
  }
}

extension Timeline.Mark.Kind {
  var words: String {
    switch self {
    case .opened: "opened"
    case .push: "push waits"
    case .planned: "planned"
    case .noData: "no data"
    case .newData: "new data"
    case .failed: "failed"
    case .refreshing: "refreshing"
    }
  }
}

extension Timeline.Span {
  fileprivate init(_ wait: Wire.Wait) {
    self.init(
      kind: .waiting, from: wait.sinceMicroseconds, until: wait.untilMicroseconds, holds: wait.holds.map(printable))
  }

  fileprivate init(_ waiting: Wire.Waiting, until now: Int64) {
    self.init(kind: .waiting, from: waiting.sinceMicroseconds, until: now, holds: waiting.holds.map(printable))
  }
}

extension Timeline.Span.Kind {
  var words: String {
    switch self {
    case .quiet: "quiet hours"
    case .foreground: "in the foreground"
    case .waiting: "waiting"
    }
  }
}

extension Wire.ForecastRest {
  /// The holds of the app, in a few words; nil if the app is only not due.
  fileprivate var note: String? {
    holds.isEmpty ? nil : "held: \(holds.names)"
  }
}
