import RefreshAPI

extension Screen {
  /// The planned refreshes, wake by wake, then the apps that have none, with the reason.
  func text(_ forecast: ManagerInterface.Forecast.Reply) -> [String] {
    var lines = wrapped(sentence(forecast))
    if !forecast.wakes.isEmpty { lines += [""] + table(forecast.wakes) }
    if !forecast.rest.isEmpty { lines += [""] + reasons(forecast.rest) }
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
    guard !starts.isEmpty else { return "Nothing will be refreshed in the next \(span)." }
    let apps = Set(starts.map(\.app)).count
    let numbers = [
      count(starts.count, "refresh", "refreshes"), count(apps, "app"), count(forecast.wakes.count, "wake"),
    ]
    let sentence = "\(numbers[0]) of \(numbers[1]) in \(numbers[2]) in the next \(span)."
    guard forecast.isCut else { return sentence }
    return sentence + " More refreshes follow: the forecast is cut at its limit."
  }

  private func table(_ wakes: [Wire.ForecastWake]) -> [String] {
    var table = Table(titles: ["WHEN", "IN", "APP", "TRIGGER", "WAKE"], prose: 4)
    for wake in wakes {
      for (index, start) in wake.starts.enumerated() {
        let isFirst = index == 0
        let shared = wake.starts.count > 1 ? isFirst ? count(wake.starts.count, "app") : "same" : ""
        table.rows.append([
          Cell(isFirst ? clock(wake.window.earliestMicroseconds) : ""),
          Cell(isFirst ? relative(wake.window.earliestMicroseconds, brief: true) : "", .faint),
          Cell(start.app), Cell(start.trigger.hyphenated), Cell(shared, .faint),
        ])
      }
    }
    return table.lines(on: self)
  }

  private func reasons(_ rest: [Wire.ForecastRest]) -> [String] {
    var facts = Facts()
    let width = max(20, readableWidth - (rest.map(\.app.count).max() ?? 0) - 5)
    for rest in rest {
      let due = rest.dueMicroseconds.map { "due \(relative($0)), \(clock($0))" } ?? "after the refreshes above"
      let text = rest.holds.isEmpty ? due : "held: \(rest.holds.namesAndRemedies)"
      facts.add(printable(rest.app), wrapped(text, within: width))
    }
    return ["Not until then:"] + facts.lines(on: self)
  }
}
