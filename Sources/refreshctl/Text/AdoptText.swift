import JSON

/// The timers of a service manager.
struct TimerList: JSONWritable {
  let timers: [SurveyedTimer]

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("timers", timers.map(TimerRow.init))
    json.endObject()
  }

  private struct TimerRow: JSONWritable {
    let timer: SurveyedTimer

    init(_ timer: SurveyedTimer) { self.timer = timer }

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("active", timer.timer.isActive)
      json.member("adopted", timer.isAdopted)
      json.member("gains", timer.gains)
      json.member("obstacle", timer.obstacle)
      json.member("timer", timer.timer.name)
      json.member("unit", timer.timer.unit)
      json.endObject()
    }
  }
}

extension SurveyedTimer {
  /// The reason why no app can replace the timer; nil if an app can.
  var obstacle: String? {
    // The mask on an adopted timer is no obstacle.
    if case .failure(let obstacle) = adoption, !isAdopted { obstacle.reason } else { nil }
  }

  fileprivate var cells: [Cell] {
    let state =
      isAdopted ? Cell("adopted", .good) : Cell(timer.isActive ? "active" : "off", timer.isActive ? .plain : .faint)
    let gain = obstacle.map { Cell("cannot: \($0)", .faint) } ?? Cell(gains.joined(separator: ", "))
    return [Cell(timer.name), state, gain]
  }
}

extension Screen {
  /// The timers and the gains of each.
  func text(_ list: TimerList) -> [String] {
    guard !list.timers.isEmpty else { return ["There are no timers."] }
    var table = Table(titles: ["TIMER", "STATE", "GAINS"], prose: 2)
    table.rows = list.timers.map(\.cells)
    return table.lines(on: self) + [""]
      + wrapped(
        "Every adopted timer also says why it runs and when (`refreshctl why`), and how it went (`refreshctl history`). "
          + "`refreshctl adopt TIMER` shows what becomes of its settings.")
  }

  /// The file of the app; when it is in force, the new state of the timer.
  func text(_ adoption: Adoption) -> [String] {
    guard adoption.isDone else {
      return adoption.file.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
        .dropLast()
    }
    let lost = adoption.remarks.filter(\.isLost).flatMap {
      wrapped("No equal: \(printable($0.setting)): \($0.meaning).")
    }
    return wrapped(
      "refreshd starts \(printable(adoption.timer.unit)) now, and \(printable(adoption.timer.name)) is off.")
      + lost
      + wrapped(
        "The app is \(adoption.app), its file \(adoption.path). `refreshctl why \(adoption.app)` says when it runs; "
          + "`refreshctl unadopt \(printable(adoption.timer.name))` undoes this.")
  }
}
