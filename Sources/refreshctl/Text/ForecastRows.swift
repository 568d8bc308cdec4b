import RefreshAPI

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

/// A number with a comma before each group of three digits: `1,440`.
func grouped(_ number: Int) -> String {
  var text = ""
  for (index, digit) in String(number).reversed().enumerated() {
    if index > 0, index % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return String(text.reversed())
}
