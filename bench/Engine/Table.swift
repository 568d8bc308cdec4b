/// The figures by number of apps, the goals for 100,000 of them, and which are met.
///
/// Times are p50, p99 and the most of this thread's processor time. The p99 is held against the goal; the most has in it
/// what the kernel does to the thread.
struct Table: CustomStringConvertible {
  private var rows: [[String]]

  init(of scales: [Scale]) {
    rows = [["figure"] + scales.map { "\(Self.grouped($0.apps)) apps" } + ["goal", "met"]]
    func add(_ figure: String, _ goal: String, isMet: (Scale) -> Bool, cell: (Scale) -> String) {
      let last = scales.last.map { isMet($0) ? "yes" : "NO" } ?? ""
      rows.append([figure] + scales.map(cell) + [goal, goal.isEmpty ? "" : last])
    }
    add("bytes an app", "≤ 1,800", isMet: { $0.bytes <= 1800 }) { Self.grouped($0.bytes) }
    add("events/s of ordinary days", "", isMet: { _ in true }) { scale in
      Self.grouped(Int(Double(scale.life.count) / max(scale.life.total, 1) * 1e6))
    }
    for (place, kind) in (scales.last?.kinds ?? []).enumerated() {
      // An opening that needs no refresh plans the next one anew, as a sync does.
      let bound = ["sync with its plan", "signal foreground"].contains(kind.name) ? 200.0 : 20
      add("\(kind.name), us", "≤ \(Int(bound))", isMet: { $0.kinds[place].watch.quantile(0.99) <= bound }) { scale in
        Self.times(scale.kinds[place].watch, per: 1)
      }
    }
    add("condition that flips for all, ms", "≤ 200", isMet: { $0.flip.quantile(1) <= 200_000 }) { scale in
      Self.times(scale.flip, per: 1e3)
    }
    add("night, a slice, ms", "≤ 1", isMet: { $0.night.quantile(0.99) <= 1_000 }) { Self.times($0.night, per: 1e3) }
    add("night, all of it, ms", "", isMet: { _ in true }) { Self.grouped(Int($0.night.total / 1e3)) }
    if let growth = Self.growth(scales) { rows.append(growth) }
  }

  var description: String {
    let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, cell in
        let gap = String(repeating: " ", count: widths[column] - cell.count)
        return (1..<row.count - 2).contains(column) ? gap + cell : cell + gap
      }
      let line = cells.joined(separator: "  ")
      return String(line.reversed().drop { $0 == " " }.reversed())
    }.joined(separator: "\n")
  }

  /// How much dearer the dearest kind of event is than with the fewest apps, and how much it may be: as the logarithms.
  private static func growth(_ scales: [Scale]) -> [String]? {
    guard let first = scales.first, let last = scales.last, last.apps > first.apps else { return nil }
    let bound = Double(digits(last.apps)) / Double(digits(first.apps))
    let ratios = zip(first.kinds, last.kinds).map { $1.watch.quantile(0.5) / max($0.watch.quantile(0.5), 0.1) }
    let most = ratios.max() ?? 0
    return ["growth of an event at p50, most"] + scales.dropLast().map { _ in "" }
      + [decimal(most), "≤ \(decimal(bound)), as log n", most <= bound ? "yes" : "NO"]
  }

  /// The logarithm to the base 2, rounded down.
  private static func digits(_ number: Int) -> Int { Int.bitWidth - number.leadingZeroBitCount - 1 }

  private static func times(_ watch: Stopwatch, per unit: Double) -> String {
    [0.5, 0.99, 1].map { decimal(watch.quantile($0) / unit) }.joined(separator: " / ")
  }

  /// Three digits that count, or so.
  static func decimal(_ number: Double) -> String {
    if number >= 100 { return grouped(Int(number.rounded())) }
    let scale = number >= 10 ? 10.0 : 100
    return "\((number * scale).rounded() / scale)"
  }

  private static func grouped(_ number: Int) -> String {
    let digits = String(number)
    let groups = stride(from: digits.count, to: 0, by: -3).map { digits.prefix($0).suffix(3) }
    return groups.reversed().joined(separator: ",")
  }
}

extension Wakes: CustomStringConvertible {
  /// In one sentence.
  var description: String {
    """
    100 apps wake the machine \(Table.decimal(engine)) times a day; the fewest wakes for the same windows are \
    \(Table.decimal(optimum)), and with a timer an app it is woken \(Table.decimal(timers)) times.
    """
  }
}
