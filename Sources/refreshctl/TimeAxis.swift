/// Where a scale of time has its ticks, and what stands at them.
struct TimeAxis {
  /// A moment on the scale.
  struct Tick: Equatable {
    /// Microseconds of the wall clock.
    let at: Int64
    /// `18:00`, or at midnight the day, `Sun 22`.
    let text: String
  }

  /// The ticks, on round times of the reader's clock and in order of time.
  let ticks: [Tick]

  /// How far ticks may be apart, minutes: what divides a day and is easy to count in.
  private static let steps = [5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440]
  /// Every difference of a time zone to UTC is a multiple of this, and every step.
  private static let grid: Int64 = 5 * 60_000_000

  /// Puts ticks on a scale, none closer to the next than `distance`.
  ///
  /// - Parameters:
  ///   - from: where it begins, microseconds of the wall clock.
  ///   - until: where it ends, microseconds of the wall clock.
  ///   - distance: the least time between two ticks, microseconds.
  ///   - screen: whose calendar it is.
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
