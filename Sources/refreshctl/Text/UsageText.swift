import RefreshAPI

extension Screen {
  /// The heights of a bar, in eighths of a line (Unicode, "Block Elements").
  private static let bars: [Character] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]

  /// The expected openings as bars, one for each half hour of a day, then the learnt numbers.
  func text(_ habits: Wire.Habits) -> [String] {
    let highest = max(0.02, (habits.week + habits.weekend).max() ?? 0)
    func row(_ day: [Double]) -> String {
      String(day.map { Self.bars[min(8, Int(($0 / highest * 8).rounded()))] })
    }
    var facts = Facts()
    facts.add("weekday", row(habits.week) + "  \(timesADay(habits.week.reduce(0, +)))")
    facts.add("weekend", row(habits.weekend) + "  \(timesADay(habits.weekend.reduce(0, +)))")
    facts.add("", paint("0     3     6     9     12    15    18    21    ", .faint))
    facts.add("new data", timesADay(habits.newDataPerDay))
    facts.add("cost", "\(Decimal.text(habits.cost)) of a typical refresh")
    if !habits.pinned.isEmpty { facts.add("pinned", habits.pinned.map(printable).joined(separator: ", ")) }
    return ["Expected openings, by the half hour:"] + facts.lines(on: self)
  }

  /// A rate: 6.5 is `6.5 times a day`.
  private func timesADay(_ number: Double) -> String { "\(Decimal.text(number)) times a day" }
}
