import RefreshAPI

extension Screen {
  /// The heights of a bar, in eighths of a line (Unicode, "Block Elements").
  private static let bars: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
  /// The columns beside the bars: the names of days, and the number of openings.
  private static let besideBars = 32

  /// The openings as bars, seen and assumed ones separately, then the habits and the learnt numbers.
  ///
  /// `reported` is the number of openings that the app or a person signalled; nil from an older daemon. `observed` is the
  /// number that a desktop showed.
  func text(_ habits: Wire.Habits, reported: Int? = nil, observed: Int? = nil) -> [String] {
    let room = readableWidth - Self.besideBars
    let (number, span) = room >= 48 ? (48, "half hour") : room >= 24 ? (24, "hour") : (12, "two hours")
    let seen = habits.days.map { bars($0.seen, number) }
    let assumed = bars(assumed(habits.days), number)
    let highest = max(0.02, (seen + [assumed]).joined().max() ?? 0)
    func row(_ day: [Double]) -> String {
      let total = day.reduce(0, +)
      return String(day.map { Self.bars[min(8, Int(($0 / highest * 8).rounded()))] }) + "  "
        + (Decimal.text(total) == "0"
          ? "not seen yet" : number == 12 ? "\(Decimal.text(total)) a day" : Decimal.timesADay(total))
    }
    var facts = Facts()
    for (kind, bars) in zip(habits.days, seen) { facts.add(names(kind.weekdays), row(bars)) }
    if assumed.contains(where: { $0 > 0 }) { facts.add("assumed", paint(row(assumed), .faint)) }
    facts.add("", paint(Self.hours(under: number), .faint))
    let named = habits.named.map { "opened \(words($0))" }
    facts.add("habits", named.isEmpty ? ["none that stands out yet"] : named)
    if let reported, let observed, reported + observed > 0 {
      facts.add("openings", "\(observed) seen on a desktop, \(reported) reported by signals")
    }
    facts.add("new data", Decimal.timesADay(habits.newDataPerDay))
    facts.add("cost", "\(Decimal.text(habits.cost)) of a typical refresh")
    if !habits.pinned.isEmpty { facts.add("pinned", habits.pinned.map(printable).joined(separator: ", ")) }
    return wrapped("Openings by the \(span): those that were seen, and those that are assumed so far:")
      + facts.lines(on: self)
  }

  /// The hours under their bars.
  private static func hours(under bars: Int) -> String {
    let hours = bars == 48 ? Array(stride(from: 0, to: 24, by: 3)) : [0, 6, 12, 18]
    return hours.map { TextWidth.padded("\($0)", to: bars / hours.count) }.joined()
  }

  /// A habit: `around 12:00 on weekdays (9 of the last 10)`.
  func words(_ habit: Wire.Habit) -> String {
    let days = Set(habit.weekdays)
    let when =
      if days.count == 7 {
        "every day"
      } else if days == Self.week {
        "on weekdays"
      } else if days == Self.weekend {
        "on weekends"
      } else {
        "on " + list(habit.weekdays.map { $0.rawValue.capitalizedWord + "s" })
      }
    return "around \(time(habit.minute)) \(when) (\(habit.met) of the last \(habit.days))"
  }

  private static let week: Set<Wire.Weekday> = [.monday, .tuesday, .wednesday, .thursday, .friday]
  private static let weekend: Set<Wire.Weekday> = [.saturday, .sunday]

  /// The name of a row: `weekdays`, `Sun`, `Mon Wed`.
  private func names(_ weekdays: [Wire.Weekday]) -> String {
    switch Set(weekdays) {
    case let days where days.count == 7: "every day"
    case Self.week: "weekdays"
    case Self.weekend: "weekends"
    default: weekdays.map { String($0.rawValue.capitalizedWord.prefix(3)) }.joined(separator: " ")
    }
  }

  /// `a`, `a and b`, `a, b and c`.
  private func list(_ words: [String]) -> String {
    let first = words.dropLast().joined(separator: ", ")
    return ([first] + words.suffix(1)).filter { !$0.isEmpty }.joined(separator: " and ")
  }

  /// The assumed openings of a day, the mean over a week.
  private func assumed(_ kinds: [Wire.KindOfDay]) -> [Double] {
    var mean: [Double] = []
    for kind in kinds {
      let part = zip(kind.openings, kind.seen).map { max(0, $0 - $1) * Double(kind.weekdays.count) / 7 }
      mean = mean.isEmpty ? part : zip(mean, part).map(+)
    }
    return mean
  }

  /// The openings of a day, summed from equal parts into a number of larger parts.
  private func bars(_ day: [Double], _ number: Int) -> [Double] {
    var bars = [Double](repeating: 0, count: number)
    for (part, openings) in day.enumerated() { bars[part * number / day.count] += openings }
    return bars
  }
}

extension String {
  /// The word with an upper-case first letter.
  fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst() }
}
