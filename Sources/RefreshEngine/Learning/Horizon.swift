import CMath

/// The expectation for the next three days: openings, updates, and the value of being fresh at each moment.
///
/// Made from the learners for one plan. The day is cut into timeslots of ten minutes. Openings and updates are even within a
/// timeslot; the future is linear between edges.
struct Horizon {
  /// Timeslots of three days.
  static let timeslots = 3 * Use.timeslots

  /// Openings to expect in each timeslot.
  private let openings: [Double]
  /// Updates a minute, by block of the day.
  private let blocks: SIMD8<Double>
  /// Updates a minute, the mean of the day.
  let rate: Double
  /// The effect of a whole timeslot on a wait (``Step``), so that a search computes no exponentials.
  let steps: [Step]
  /// The cost to come of being fresh at the edge of each timeslot, in minutes of age.
  var future: [Double]
  /// A lower bound of the costs to come.
  var lowest: Double

  /// The effect of a time on a wait.
  struct Step {
    /// The chance that nobody opens the app in it.
    var unopened: Double
    /// The chance that the source has nothing new in it.
    var unchanged: Double
    /// How long data without an update at the beginning stays current, in minutes, on average.
    var current: Double
    /// Minutes that pass.
    var minutes: Double

    init(openings: Double, rate: Double, minutes: Double) {
      let updates = rate * minutes
      self.unopened = exp(-openings)
      self.unchanged = exp(-updates)
      self.current = updates > 1e-6 ? (1 - unchanged) / rate : minutes
      self.minutes = minutes
    }
  }

  /// Joins three days, each with its openings by timeslot; `knowsMet` lowers them where a habit was met.
  init(days: [ExpectedDay], knowsMet: Bool, blocks: SIMD8<Double>, rate: Double, future: Future) {
    openings = days.flatMap { knowsMet ? $0.conditional : $0.unmet }
    self.blocks = blocks
    self.rate = rate
    self.future = future.threeDays
    lowest = min(0, -3 * Double(future.rise))
    let whole = (0..<8).map { Step(openings: 0, rate: blocks[$0], minutes: Use.timeslotMinutes) }
    steps = openings.enumerated().map { timeslot, openings in
      var step = whole[timeslot % Use.timeslots / (Use.timeslots / 8)]
      if openings > 0 { step.unopened = exp(-openings) }
      return step
    }
  }

  /// The timeslot of a minute; the last timeslot for all later minutes.
  static func timeslot(at minute: Double) -> Int { min(max(Int(minute / Use.timeslotMinutes), 0), timeslots - 1) }

  /// The effect of a part of a timeslot, from `minute` on.
  func step(from minute: Double, minutes: Double) -> Step {
    let timeslot = Self.timeslot(at: minute)
    let block = timeslot % Use.timeslots / (Use.timeslots / 8)
    return Step(openings: openings[timeslot] * minutes / Use.timeslotMinutes, rate: blocks[block], minutes: minutes)
  }

  func future(at minute: Double) -> Double {
    let timeslot = minute / Use.timeslotMinutes
    let index = min(max(Int(timeslot), 0), Self.timeslots - 1)
    return future[index] + (future[index + 1] - future[index]) * (timeslot - Double(index))
  }

  /// Openings to expect between two minutes.
  func openings(from begin: Double, until end: Double) -> Double {
    var (sum, minute) = (0.0, begin)
    while minute < end {
      let timeslot = Self.timeslot(at: minute)
      let next = min(end, timeslot < Self.timeslots - 1 ? Double(timeslot + 1) * Use.timeslotMinutes : end)
      sum += openings[timeslot] * (next - minute) / Use.timeslotMinutes
      minute = next
    }
    return sum
  }
}
