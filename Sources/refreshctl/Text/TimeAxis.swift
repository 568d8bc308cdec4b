/// The ticks of a time scale, and their labels.
struct TimeAxis {
  /// A moment on the scale.
  struct Tick: Equatable {
    /// Microseconds of the wall clock.
    let at: Int64
    /// The label: `18:00`, or `Sun 22` at midnight.
    let text: String
  }

  /// The ticks at round times of the reader's clock, in order.
  let ticks: [Tick]

  /// The possible distances between ticks, in minutes: round numbers that divide a day.
  private static let steps = [5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440]
  /// A divisor of every step and of every time zone's offset from UTC.
  private static let grid: Int64 = 5 * 60_000_000

  /// Places ticks on a scale, at least `distance` apart.
  ///
  /// - Parameters:
  ///   - from: the beginning, microseconds of the wall clock.
  ///   - until: the end, microseconds of the wall clock.
  ///   - distance: the least time between two ticks, microseconds.
  ///   - screen: the screen with the reader's calendar.
  init(from: Int64, until: Int64, distance: Int64, on screen: Screen) {
    let step = Self.steps.first { Int64($0) * 60_000_000 >= distance } ?? 1440
    let days = max(1, Int((distance + 86_399_999_999) / 86_400_000_000))
    let first = (from + Self.grid - 1) / Self.grid * Self.grid
    ticks = stride(from: first, through: until, by: Int64.Stride(Self.grid)).compactMap { at in
      let time = screen.calendar(at)
      guard time.minuteOfDay % step == 0, step < 1440 || time.day % days == 0 else { return nil }
      return Tick(at: at, text: time.minuteOfDay == 0 ? time.weekday : time.clock(seconds: false))
    }
  }
}
