import RefreshEngine

/// How often a machine with 100 apps is woken in a day, beside the least that serves the same windows.
struct Wakes {
  /// Days that are lived before the count, and days that are counted.
  private static let (before, counted) = (3, 14)

  /// Wakes a day that start something.
  let engine: Double
  /// Wakes a day that an optimal plan needs for the same windows, had it known all of them from the beginning.
  let optimum: Double
  /// Wakes a day with one timer an app: one for each refresh.
  let timers: Double

  init(apps: Int) {
    var machine = Machine(Fleet(apps: apps), plannedIn: 0.1..<8, keepsWindows: true)
    machine.live(until: Fleet.begin + .hours(Int64(24 * Self.before)))
    let (wakes, windows) = (machine.wakes, machine.windows.count)
    machine.live(until: Fleet.begin + .hours(Int64(24 * (Self.before + Self.counted))))
    let served = machine.windows.dropFirst(windows)
    engine = Double(machine.wakes - wakes) / Double(Self.counted)
    optimum = Double(Self.stabs(served)) / Double(Self.counted)
    timers = Double(served.count) / Double(Self.counted)
  }

  /// The fewest instants of which each window holds one: at the end of the first that holds none yet, again and again.
  private static func stabs(_ windows: some Collection<Window>) -> Int {
    var (count, last) = (0, Instant?.none)
    for window in windows.sorted(by: { $0.latest < $1.latest }) where last.map({ $0 < window.earliest }) ?? true {
      count += 1
      last = window.latest
    }
    return count
  }
}
