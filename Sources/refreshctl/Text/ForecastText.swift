import RefreshAPI

extension Screen {
  /// The planned refreshes, wake by wake, then the apps without any, with the reason.
  func text(_ forecast: ManagerInterface.Forecast.Reply) -> [String] {
    var lines = wrapped(sentence(forecast))
    if !forecast.wakes.isEmpty { lines += [""] + table(forecast.wakes) }
    if !forecast.rest.isEmpty { lines += [""] + reasons(forecast.rest) }
    lines += waiting(forecast) + guards(forecast.guards ?? [])
    guard !forecast.wakes.isEmpty else { return lines }
    return lines + [""] + wrapped(Self.assumptions).map { paint($0, .faint) }
  }

  /// The assumptions of a forecast, because the real refreshes may differ.
  private static let assumptions =
    "The forecast assumes that nobody opens or leaves an app, nothing is pushed, network and power stay as they are, "
    + "and each refresh ends at once with no data. A wake may be as late as its window allows."

  private func sentence(_ forecast: ManagerInterface.Forecast.Reply) -> String {
    let span = Elapsed.stretch(forecast.untilMicroseconds - forecast.fromMicroseconds)
    let starts = forecast.wakes.flatMap(\.starts)
    if forecast.hasAppsOfOthers == true, starts.isEmpty, forecast.rest.isEmpty, forecast.guards ?? [] == [] {
      return noApps(butOfOthers: true)
    }
    guard !starts.isEmpty else { return "Nothing will be refreshed in the next \(span)." }
    let apps = Set(starts.map(\.app)).count
    let numbers = [
      "\(grouped(starts.count)) \(starts.count == 1 ? "refresh" : "refreshes")", count(apps, "app"),
      "\(grouped(forecast.wakes.count)) \(forecast.wakes.count == 1 ? "wake" : "wakes")",
    ]
    var sentence = "\(numbers[0]) of \(numbers[1]) in \(numbers[2]) in the next \(span)."
    if let from = forecast.aloneFromMicroseconds {
      sentence += " From \(clock(from)) on, other apps are left out: they start too often."
    }
    return forecast.isCut ? sentence + " More refreshes follow: the forecast is cut at its limit." : sentence
  }

  private func table(_ wakes: [Wire.ForecastWake]) -> [String] {
    let rows = ForecastRows(wakes).rows
    let whole = table(rows, isCounted: true)
    return (whole.cuts("THEN", on: self) ? table(rows, isCounted: false) : whole).lines(on: self)
  }

  /// Makes the table of the starts; if `isCounted`, a repeated refresh shows its number.
  private func table(_ rows: [ForecastRows.StartRow], isCounted: Bool) -> Table {
    // On a narrow screen the time is enough, and the last column needs the room.
    let isWide = width.map { $0 >= 100 } ?? true
    var table = Table(titles: ["WHEN"] + (isWide ? ["IN"] : []) + ["APP", "TRIGGER", "THEN"], prose: isWide ? 4 : 3)
    for row in rows {
      let distance = Cell(row.isWithLast ? "" : relative(row.first, brief: true), .faint)
      table.rows.append(
        [Cell(row.isWithLast ? "" : clock(row.first))] + (isWide ? [distance] : []) + [
          Cell(row.app), Cell(row.trigger.hyphenated),
          Cell(repeats(row, isCounted: isCounted) ?? (row.isWithLast ? "same wake" : ""), .faint),
        ])
    }
    return table
  }

  /// The repetition of a refresh: `every 1 min until tomorrow 07:24, 1,440 times`.
  private func repeats(_ row: ForecastRows.StartRow, isCounted: Bool) -> String? {
    guard row.count > 1 else { return nil }
    let span = (row.last - row.first) / Int64(row.count - 1)
    let distance = span < 1_000_000 ? Elapsed.measured(span) : Elapsed.rough(span)
    let isOneDay = calendar(row.first).day == calendar(row.last).day
    let end = isOneDay ? calendar(row.last).clock(seconds: false) : clock(row.last, seconds: false)
    return "every \(distance) until \(end)" + (isCounted ? ", \(grouped(row.count)) times" : "")
  }

  /// The pushes and transfers that still wait at the end of the forecast.
  private func waiting(_ forecast: ManagerInterface.Forecast.Reply) -> [String] {
    var facts = Facts()
    for app in forecast.pushes ?? [] {
      facts.add(printable(app.app), words(app.pushes))
    }
    for transfer in forecast.transfers ?? [] {
      facts.add(printable(transfer.app), "transfer \(transfer.id) is held: \(transfer.holds.namesAndRemedies)")
    }
    let lines = facts.lines(on: self)
    return lines.isEmpty ? [] : ["", "Still waiting at the end:"] + lines
  }

  /// Whether the units of guards may run, and when that changes.
  private func guards(_ guards: [Wire.ForecastGuard]) -> [String] {
    var facts = Facts()
    for guarded in guards {
      let changes = guarded.changes.prefix(Self.mostChanges).enumerated().map { index, change in
        let state = change.holds.isEmpty ? "may run" : "held: \(printable(change.holds.joined(separator: ", ")))"
        return index == 0 ? state : "from \(clock(change.atMicroseconds)) on \(state)"
      }
      let more = guarded.changes.count > Self.mostChanges ? "; and so on" : ""
      facts.add(printable(guarded.app), "\(printable(guarded.unit)): \(changes.joined(separator: "; "))\(more)")
    }
    let lines = facts.lines(on: self)
    return lines.isEmpty ? [] : ["", "Guarded units:"] + lines
  }

  /// The most changes of a guard that are listed.
  private static let mostChanges = 4

  private func reasons(_ rest: [Wire.ForecastRest]) -> [String] {
    var facts = Facts()
    for rest in rest {
      let due = rest.dueMicroseconds.map { "due \(relative($0)), \(clock($0))" } ?? "after the refreshes above"
      let text = rest.holds.isEmpty ? due : "held: \(rest.holds.namesAndRemedies)"
      facts.add(printable(rest.app), text)
    }
    return ["Not until then:"] + facts.lines(on: self)
  }
}

/// The starts of a forecast; a run of evenly spaced starts of an app is one row.
struct ForecastRows {
  /// A start, or several evenly spaced starts of an app with one trigger.
  struct StartRow: Equatable {
    let app: String
    let trigger: Wire.Trigger
    /// The time of the first start, microseconds of the wall clock.
    let first: Int64
    /// The time of the last start, microseconds of the wall clock.
    var last: Int64
    var count = 1
    /// Whether the row shares the wake of the row above it.
    var isWithLast = false
  }

  /// The rows in order of time.
  private(set) var rows: [StartRow] = []

  /// The fewest starts that become one row.
  private static let fewest = 4

  init(_ wakes: [Wire.ForecastWake]) {
    var runs: [String: [StartRow]] = [:]
    for wake in wakes {
      for start in wake.starts {
        let row = StartRow(
          app: start.app, trigger: start.trigger, first: wake.window.earliestMicroseconds,
          last: wake.window.earliestMicroseconds)
        runs[start.app, default: []].append(row)
      }
    }
    rows = runs.values.flatMap(Self.folded).sorted { ($0.first, $0.app) < ($1.first, $1.app) }
    for index in rows.indices.dropFirst() where rows[index].first == rows[index - 1].first {
      rows[index].isWithLast = true
    }
  }

  /// The rows of an app's starts; a run of evenly spaced starts is one row.
  private static func folded(_ starts: [StartRow]) -> [StartRow] {
    var rows: [StartRow] = []
    var begin = 0
    while begin < starts.count {
      var end = begin + 1
      while end < starts.count, starts[end].trigger == starts[begin].trigger, isEven(starts, begin, end) { end += 1 }
      if end - begin >= fewest {
        var row = starts[begin]
        (row.last, row.count) = (starts[end - 1].last, end - begin)
        rows.append(row)
        begin = end
      } else {
        rows.append(starts[begin])
        begin += 1
      }
    }
    return rows
  }

  /// Whether the last distance equals the first distance, within a tenth.
  private static func isEven(_ starts: [StartRow], _ begin: Int, _ end: Int) -> Bool {
    let distance = starts[begin + 1].first - starts[begin].first
    return abs(starts[end].first - starts[end - 1].first - distance) * 10 <= distance
  }
}
