import CMath
import Testing

@testable import RefreshEngine

/// The learners against the reference planner, where both say the same: the numbers are those that reference.py prints.
///
/// The cost of waiting and the future are the reference's own formulas. The engine goes beyond it in three,
/// which are held to a bound: the rate is believed, not counted (``RateBelief``); openings spread wider where they are
/// rare (``Circle``); and a plan is looked for again by the minute around the best timeslot (``WaitSearch``).
@Suite("Reference")
struct ReferenceTests {
  static let timeslot = 10.0
  /// Of a day's cost: the reference rounds the middle of a wait to the timeslot after it, and weighs half hours only after two
  /// hours; the engine does neither.
  static let slack = 0.08

  /// Timeslots between two updates, and the updates a day that the reference learns of them.
  @Test("a source is known as well as by the reference", arguments: [(30, 6.861), (72, 2.401), (288, 0.6666)])
  func rate(timeslotsBetween every: Int, reference: Double) {
    var newData = NewDataRate()
    let typical = 6 / LocalTime.minutesOfDay
    var (now, turn) = (0, 0)
    while now < 60 * 144 {
      let last = now
      now += [7, 19][turn % 2]
      turn += 1
      newData.observe(
        gap: Double(now - last) * Self.timeslot, endingAt: LocalTime(minutes: Double(now) * Self.timeslot),
        foundNew: now / every > last / every, typical: typical)
    }
    let learnt = newData.mean(typical: typical) * LocalTime.minutesOfDay
    let truth = 144 / Double(every)
    // The mean of a belief lies above its middle, most where the source is rare.
    #expect(abs(log(learnt / truth)) <= abs(log(reference / truth)) + 0.2)
  }

  @Test("the times of use have the reference's shape, but for the wider spread of rare openings")
  func shape() {
    var counts = [Double](repeating: 0, count: Use.halfHours)
    for day in 0..<28 {
      counts[16 + day % 3] += 1
      counts[40 + day * 5 % 7] += 1
    }
    let even = [Double](repeating: 1 / 48.0, count: 48)
    let reference = [
      0.01222, 0.00544, 0.002488, 0.001513, 0.001274, 0.001232, 0.001226, 0.001226, 0.001225, 0.001225,
      0.001226, 0.001232, 0.001401, 0.003484, 0.016, 0.05318, 0.1071, 0.1324, 0.1015, 0.04905, 0.01504,
      0.003457, 0.001414, 0.001234, 0.001226, 0.001225, 0.001225, 0.001225, 0.001225, 0.001225, 0.001225,
      0.001226, 0.001226, 0.001232, 0.001274, 0.001513, 0.002488, 0.00544, 0.01222, 0.02418, 0.04031, 0.0564,
      0.06748, 0.07125, 0.06748, 0.0564, 0.04031, 0.02418,
    ]
    let all = counts.reduce(0, +) + 3.5
    let shape: [Double] = zip(Circle.spread(counts), even).map { ($0 + 3.5 * $1) / all }
    #expect(abs(shape.reduce(0, +) - 1) < 1e-9)
    let difference = zip(shape, reference).reduce(0) { $0 + abs($1.0 - $1.1) } / 2
    #expect(difference < 0.1)
  }

  /// A source and a price, and what the reference makes of them.
  struct Case: CustomTestStringConvertible, Sendable {
    var newDataPerDay: Double
    var price: Double
    /// The weight of each block of the day; their mean is one.
    var shape: SIMD8<Double>
    /// Cost to come of being fresh, at every second hour.
    var future: [Double]
    /// The cost of a day.
    var rise: Double
    /// The best wait and its cost: at midnight, at 14:00, and at 17:00 with data that is four hours old.
    var plans: [(wait: Double, cost: Double)]
    var testDescription: String { "\(newDataPerDay) updates a day at a price of \(price)" }
  }

  static let cases = [
    Case(
      newDataPerDay: 24, price: 12, shape: SIMD8(repeating: 1),
      future: [173.8, 165.2, 157.4, 144.5, 121.3, 102.5, 93.27, 85.01, 74.86, 56.25, 32.33, 9.513], rise: 176.3,
      plans: [(330, 173.7), (180, 85.01), (10, 80.91)]),
    Case(
      newDataPerDay: 4, price: 75, shape: SIMD8(repeating: 1),
      future: [238.6, 227.4, 199.8, 162.0, 144.0, 133.0, 120.3, 101.5, 68.41, 36.3, 18.73, 6.727], rise: 241.3,
      plans: [(390, 238.6), (300, 101.5), (70, 113.0)]),
    Case(
      newDataPerDay: 24, price: 12, shape: SIMD8(0, 1, 2, 3, 4, 5, 6, 7) / 3.5,
      future: [159.2, 159.2, 155.9, 146.2, 127.1, 111.2, 102.9, 94.31, 84.14, 64.12, 35.86, 7.89], rise: 170.9,
      plans: [(390, 159.2), (180, 94.31), (10, 89.44)]),
  ]

  /// Openings expected on a day: some around 8:00, more around 20:00.
  static var day: [Double] {
    (0..<Use.halfHours).map { half in
      let (morning, evening) = ((Double(half) - 16) / 2, (Double(half) - 40) / 3)
      return 2 * exp(-0.5 * morning * morning) / 5 + 3 * exp(-0.5 * evening * evening) / 7 + 0.01
    }
  }

  @Test("the future and the wait of least cost are the reference's", arguments: cases)
  func plans(_ given: Case) {
    let rate = given.newDataPerDay / LocalTime.minutesOfDay
    func horizon(_ future: Future) -> Horizon {
      var day = ExpectedDay(pinned: [])
      day.unmet = Self.day.flatMap { [$0 / 3, $0 / 3, $0 / 3] }
      return Horizon(days: [day, day, day], knowsMet: false, blocks: given.shape * rate, rate: rate, future: future)
    }
    var future = Future()
    future.improve(horizon(future), charge: given.price, floor: 10, ceiling: nil, passes: AppHabits.firstPasses)
    for (index, cost) in given.future.enumerated() {
      #expect(abs(Double(future.costs[12 * index]) * Double(future.step) - cost) < Self.slack * given.rise)
    }
    #expect(abs(Double(future.rise) / given.rise - 1) < Self.slack)
    for ((start, age), plan) in zip([(0.0, 0.0), (840, 0), (1020, 240)], given.plans) {
      let best = WaitSearch.best(horizon(future), start: start, age: age, charge: given.price, notBefore: 10)
      #expect(abs(best.wait - plan.wait) <= 2 * Self.timeslot)
      #expect(abs(best.cost - plan.cost) < Self.slack * given.rise)
    }
  }
}
