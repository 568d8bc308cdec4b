import CMath

/// The learners of one app: how often it has new data, when it is opened, and the cost of a refresh.
public struct AppHabits: Hashable, Sendable {
  var newData = NewDataRate()
  var use = Use()
  /// The local day up to which the nights have passed; nil before the first.
  var day: Int32?
  var measuredCost = Cost()
  var future = Future()
  var spending = Spending()

  /// How many passes improve the future on the first night, when it is unknown.
  static let firstPasses = 4
  /// How many passes correct the future on a later night.
  ///
  /// Measured: after one, a change of the day's price has not come through, and the future seems better than it is. The
  /// second gains up to half a percent of the score, a third nothing.
  static let passes = 2

  /// Makes learners that know nothing yet.
  public init() {}

  /// Learns that the user brought the app to the foreground; true for the first time in this timeslot of the day.
  @discardableResult public mutating func opened(at moment: LocalTime) -> Bool { use.opened(at: moment) }

  /// Learns from a sync, by a refresh that did not fail or by an opening; `gap` is minutes since the last sync.
  public mutating func synced(after gap: Double, at moment: LocalTime, foundNew: Bool, _ device: DeviceHabits) {
    newData.observe(gap: gap, endingAt: moment, foundNew: foundNew, typical: device.typicalRate)
  }

  /// Learns the cost of a refresh: run time and processor time in seconds, and bytes, perhaps over a metered connection.
  ///
  /// Bytes are nil if they were not counted.
  public mutating func spent(duration: Double, cpu: Double, bytes: Double?, metered: Bool) {
    measuredCost.spent(duration: duration, cpu: cpu, bytes: bytes, metered: metered)
  }

  /// Ends the days before `today`: the past fades, and the future is improved once, also after several nights.
  ///
  /// The future knows that no refresh comes within `floor` minutes of a sync, and that a refresh comes at a `ceiling` in
  /// minutes, if a person set one.
  ///
  /// At most a week ends at once: a longer gap is a holiday or a clock that jumped, and tells little of the user. If the
  /// clock was set back, counting goes on from `today`, so that the coming nights pass again.
  public mutating func passNights(
    upTo today: Int, floor: Double = 10, ceiling: Double? = nil, _ device: DeviceHabits, _ pins: Pins = Pins()
  ) {
    let isFirst = day == nil
    if let day {
      guard Int(day) < today else {
        self.day = Int32(clamping: today)
        use.log.advance(to: today)
        return
      }
      use.passDays(Int(day)..<today, device.use)
    }
    day = Int32(clamping: today)
    spending.passNight(most: device.budget.refreshesPerAppAndDay * Price.mostShares)
    let horizon = horizon(expected(from: today, device, pins), knowsMet: false, device, pins)
    let charge = charge(device, pins)
    future.improve(
      horizon, charge: charge, floor: floor, ceiling: ceiling, passes: isFirst ? Self.firstPasses : Self.passes)
  }

  /// The cheapest moment for the next refresh.
  ///
  /// `age` is minutes since the last sync. The wait in minutes is at least `notBefore`, the end of the interval, and at
  /// most `ceiling`, if there is one; the end of the interval wins. A dormant app waits for its ceiling.
  public func plan(
    at now: LocalTime, age: Double, notBefore: Double, ceiling: Double?, _ device: DeviceHabits, _ pins: Pins
  ) -> Plan {
    let expected = expected(from: now.day, device, pins)
    let horizon = horizon(expected, knowsMet: true, device, pins)
    let start = now.minuteOfDay
    let charge = charge(device, pins)
    let floor = min(notBefore, WaitSearch.longest)
    let last = max(min(ceiling ?? WaitSearch.longest, WaitSearch.longest), floor)
    var best = WaitSearch.best(
      horizon, start: start, age: max(age, 0), charge: charge, notBefore: floor, notAfter: last, isFine: true)
    best.wait = max(best.wait, notBefore)
    let openings = horizon.openings(from: start, until: start + min(best.wait, WaitSearch.longest))
    let isUnused = use.isUnused && pins.openings.isEmpty
    let isDormant = isUnused || best.wait >= WaitSearch.longest && best.wait > notBefore
    let wait = isDormant ? max(ceiling ?? WaitSearch.longest, notBefore) : best.wait
    return Plan(
      wait: wait, worth: horizon.worth(of: best.cost, at: start), price: charge, openingsExpected: openings,
      ageSpared: best.age,
      likelyOpening: expected.likelyOpening(after: start + best.wait)?.minuteOfDay,
      isDormant: isDormant, isForced: ceiling.map { wait >= $0 } ?? false)
  }

  /// How often a day the source has new data, as learnt or pinned.
  public func newDataPerDay(_ device: DeviceHabits, _ pins: Pins) -> Double {
    pins.newDataPerDay ?? newData.mean(typical: device.typicalRate) * LocalTime.minutesOfDay
  }

  /// The cost of a refresh relative to the machine's typical refresh, as learnt or pinned.
  public func cost(_ device: DeviceHabits, _ pins: Pins) -> Double {
    pins.cost ?? measuredCost.relative(to: device.typicalCost)
  }

  /// Minutes of age that a refresh of the app must spare: the machine's price × the relative cost × a factor above 1 while
  /// the app takes far more than its share.
  private func charge(_ device: DeviceHabits, _ pins: Pins) -> Double {
    device.price * cost(device, pins) * Double(spending.factor)
  }

  /// When the app is expected to be opened, as learnt or pinned.
  public func usage(_ device: DeviceHabits, _ pins: Pins) -> Usage {
    guard pins.openings.isEmpty else { return Usage(pinned: pins.openings) }
    return Usage(use, today: Int(day ?? 0), device.use)
  }

  /// The openings to expect on the three days from `today` on, as learnt or pinned.
  func expected(from today: Int, _ device: DeviceHabits, _ pins: Pins) -> [ExpectedDay] {
    guard pins.openings.isEmpty else {
      return [ExpectedDay](repeating: ExpectedDay(pinned: pins.openings), count: 3)
    }
    return use.expected(today..<(today + 3), device.use)
  }

  /// The expectation for the three days from `today` on.
  private func horizon(_ days: [ExpectedDay], knowsMet: Bool, _ device: DeviceHabits, _ pins: Pins) -> Horizon {
    var rate = newData.mean(typical: device.typicalRate)
    var blocks = newData.blocks(typical: device.typicalRate)
    if let pinned = pins.newDataPerDay {
      rate = pinned / LocalTime.minutesOfDay
      blocks = SIMD8(repeating: rate)
    }
    return Horizon(days: days, knowsMet: knowsMet, blocks: blocks, rate: rate, future: future)
  }
}

/// The time of an app's next refresh, and every number that led to it.
public struct Plan: Hashable, Sendable {
  /// Minutes from the moment of planning to the refresh.
  public var wait: Double
  /// Minutes of age that a refresh at the moment of planning would spare.
  public var worth: Double
  /// The price, in minutes of age that a refresh must spare: the profile's price × the app's relative cost, and more while
  /// the app takes more than it may.
  public var price: Double
  /// The openings to expect before the refresh.
  public var openingsExpected: Double
  /// The age in minutes that an opening at the planned moment would meet on average, without the refresh.
  public var ageSpared: Double
  /// The minute of the day around which the next opening after the refresh is likely; nil if no time stands out.
  public var likelyOpening: Int?
  /// Whether no moment within the horizon is worth a refresh: then the wait is the ceiling, or the whole horizon.
  public var isDormant: Bool
  /// Whether the ceiling, and not the price, chose the moment.
  public var isForced: Bool
}

/// The habits of an app, as learnt or pinned in its file.
public struct Habits: Hashable, Sendable {
  /// When the app is expected to be opened.
  public var usage: Usage
  /// How often a day the source has new data.
  public var newDataPerDay: Double
  /// The cost of a refresh, relative to the machine's typical refresh.
  public var cost: Double
}

/// Numbers of an app's file in place of learnt numbers.
public struct Pins: Hashable, Sendable {
  /// How often a day the source has new data; greater than 0.
  public var newDataPerDay: Double?
  /// When the app is opened, minutes of the local day, once each day; empty for "as learnt".
  public var openings: [Int] = []
  /// The cost of a refresh, relative to the machine's typical refresh; greater than 0.
  public var cost: Double?

  /// Pins nothing.
  public init() {}
}
