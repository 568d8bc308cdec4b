import CMath

/// Searches the wait until the next refresh that costs least.
///
/// The cost of a wait d is the sum of two terms. First, over all shorter waits, the chance that the user comes then × (the
/// age met + the future from fresh). Second, the chance that nobody came by d × (price × cost + the future from fresh). Not
/// opened: e^(−openings expected). Age met: the time passed − ∫ e^(−updates expected). So it weighs worth against price.
struct WaitSearch {
  /// The longest wait to weigh, in minutes: a day and a half.
  static let longest = 2160.0
  /// How many steps of a minute search the timeslots before and after the best timeslot.
  private static let fineSteps = 20

  /// The state of the search at a wait.
  private struct Waited {
    var wait = 0.0
    var unopened = 1.0
    var unchanged: Double
    /// The age in minutes that an opening now meets on average.
    var age: Double
    /// The cost of the openings until now.
    var opened = 0.0

    mutating func pass(_ step: Horizon.Step, _ future: Double) {
      let before = age
      age += step.minutes - unchanged * step.current
      unchanged *= step.unchanged
      opened += unopened * (1 - step.unopened) * ((before + age) / 2 + future)
      unopened *= step.unopened
      wait += step.minutes
    }
  }

  /// Finds the cheapest wait within two bounds.
  ///
  /// - Parameters:
  ///   - horizon: the expected openings and updates of the next days.
  ///   - start: the minute of the horizon's first day at which the wait begins.
  ///   - age: the age of the data, in minutes since the last sync.
  ///   - charge: the cost of a refresh, in minutes of age.
  ///   - notBefore: the shortest wait, in minutes.
  ///   - notAfter: the longest wait, in minutes.
  ///   - isFine: whether to search the best moment by the minute, and not only by the timeslot.
  /// - Returns: the wait in minutes, its cost in minutes of age, and the age at its end in minutes.
  static func best(
    _ horizon: Horizon, start: Double, age: Double, charge: Double, notBefore: Double, notAfter: Double = longest,
    isFine: Bool = false
  ) -> (wait: Double, cost: Double, age: Double) {
    let unchanged = exp(-horizon.rate * age)
    var waiting = Waited(unchanged: unchanged, age: age - (1 - unchanged) / horizon.rate)
    func cost(_ waited: Waited, _ future: Double) -> Double { waited.opened + waited.unopened * (charge + future) }
    func advance(_ waited: inout Waited, to end: Double) {
      while waited.wait < end, start + waited.wait < Double(Horizon.timeslots) * Use.timeslotMinutes {
        let minute = start + waited.wait
        let edge = Double(Horizon.timeslot(at: minute) + 1) * Use.timeslotMinutes - start
        let minutes = min(end, edge) - waited.wait
        waited.pass(horizon.step(from: minute, minutes: minutes), horizon.future(at: minute + minutes / 2))
      }
    }
    advance(&waiting, to: notBefore)
    var (best, before, previous) = (waiting, waiting, waiting)
    var least = cost(waiting, horizon.future(at: start + waiting.wait))
    var timeslot = Horizon.timeslot(at: start + waiting.wait)
    let first = Double(timeslot + 1) * Use.timeslotMinutes - start
    if first <= notAfter {
      advance(&waiting, to: first)
      timeslot += 1
      while true {
        let value = cost(waiting, horizon.future[timeslot])
        if value < least { (best, before, least) = (waiting, previous, value) }
        guard waiting.wait + Use.timeslotMinutes <= notAfter, timeslot < Horizon.timeslots - 1,
          cost(waiting, horizon.lowest) < least
        else { break }
        previous = waiting
        waiting.pass(horizon.steps[timeslot], (horizon.future[timeslot] + horizon.future[timeslot + 1]) / 2)
        timeslot += 1
      }
    }
    guard isFine, best.wait < longest else { return (best.wait, least, best.age) }
    let end = min(best.wait + Use.timeslotMinutes, notAfter)
    for _ in 0..<fineSteps where before.wait < end {
      advance(&before, to: min(before.wait + 1, end))
      let value = cost(before, horizon.future(at: start + before.wait))
      if value < least { (best, least) = (before, value) }
    }
    return (best.wait, least, best.age)
  }
}

extension Horizon {
  /// The worth of a refresh at a moment, in minutes of age: the cost of waiting, less the future of fresh data.
  ///
  /// `waiting` is the cost of waiting for the best moment. ``WaitSearch`` chooses the moment, by worth and price.
  func worth(of waiting: Double, at minute: Double) -> Double { max(waiting - future(at: minute), 0) }
}

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

/// The relative value of being fresh at each timeslot of the day, improved once a night.
struct Future: Hashable, Sendable {
  /// The cost to come of being fresh at the edge of each timeslot, less the least of the day, in steps of `step`.
  ///
  /// They are multiples of 16. Measured: 12 bits of each lose nothing that shows, 8 bits two percent of the score of
  /// `fresh`.
  var costs = Numbers<144, UInt16>()
  /// The minutes of age of a step: a 65,535th of the largest cost.
  ///
  /// With the rounding of ``costs``, a search is off by some seconds.
  var step: Float = 0
  /// The cost of a day, the mean rise of the costs in a pass; minutes of age.
  var rise: Float = 0

  /// The cost to come at each timeslot, in minutes of age.
  private var minutes: [Double] { costs.map { Double($0) * Double(step) } }

  /// The costs to come over three days: each day costs less than the day before.
  var threeDays: [Double] {
    let costs = minutes
    var nodes: [Double] = []
    nodes.reserveCapacity(Horizon.timeslots + 1)
    for day in 0..<3 { for cost in costs { nodes.append(cost - Double(day) * Double(rise)) } }
    nodes.append(costs[0] - 3 * Double(rise))
    return nodes
  }

  /// Runs backward passes over the day.
  ///
  /// A sync at any moment forbids the next refresh before `floor`; a `ceiling` forces a refresh there. Both in minutes.
  mutating func improve(_ horizon: Horizon, charge: Double, floor: Double, ceiling: Double?, passes: Int) {
    var horizon = horizon
    let count = Use.timeslots
    // A wait may not leave the three days of the horizon.
    let floor = min(floor, WaitSearch.longest)
    let longest = max(floor, min(ceiling ?? WaitSearch.longest, WaitSearch.longest))
    var rise = Double(self.rise)
    var old = minutes
    for _ in 0..<passes {
      horizon.future = old + old + old.map { $0 - rise } + [old[0] - 2 * rise]
      horizon.lowest = min(0, -2 * rise)
      for timeslot in stride(from: count - 1, through: 0, by: -1) {
        horizon.future[timeslot] = horizon.future[timeslot + 1] + rise / Double(count)
        let best = WaitSearch.best(
          horizon, start: Double(timeslot) * Use.timeslotMinutes, age: 0, charge: charge, notBefore: max(floor, 1),
          notAfter: longest)
        horizon.future[timeslot] = best.cost
      }
      let today = horizon.future[0..<count]
      rise = zip(today, old).reduce(0) { $0 + $1.0 - $1.1 } / Double(count)
      let least = today.min() ?? 0
      old = today.map { $0 - least }
    }
    let largest = old.max() ?? 0
    step = Float(largest / Double(UInt16.max))
    costs = Self.rounded(old.map { largest > 0 ? UInt16(($0 / largest * Double(UInt16.max)).rounded()) : 0 })
    self.rise = Float(rise)
  }

  /// Rounds costs to multiples of 16.
  static func rounded(_ costs: [UInt16]) -> Numbers<144, UInt16> {
    Numbers(costs.map { UInt16(min((Int($0) + 8) / 16, 4095) * 16) })
  }
}
