import Glibc
import RefreshEngine
import Simulator

/// Apps with a month of habits behind them: a source each, and a user who opens them in the morning and in the evening.
struct Fleet {
  /// When it is taken up: a Monday, 10:00 on the clock on the wall, boot clock.
  static let begin = Instant(microseconds: 0) + .hours(35 * 24 + 10)
  /// Unix time minus boot time: the boot was at midnight of a Monday.
  static let wallOffset = Duration.hours(4 * 24)
  /// Habits that are learnt; the apps share them, because a month of 100,000 apps takes minutes to learn.
  private static let habits = 24
  private static let month = 30

  let ids: [AppID]
  private var chance = Chance(seed: 1)

  init(apps: Int) {
    ids = (0..<apps).compactMap { AppID("org.example.app\(String(1_000_000 + $0).dropFirst())") }
  }

  /// The place of an app in ``ids``: the number at the end of its id.
  func place(of id: AppID) -> Int { Int(id.description.suffix(6)) ?? 0 }

  /// An app in ten goes by its interval alone; the others are planned.
  static func isPlanned(_ place: Int) -> Bool { place % 10 != 0 }

  /// Openings a day of an app: from one in three days to ten a day.
  static func openingsPerDay(_ place: Int) -> Double { 0.3 * Double(1 << (place % 6)) }
  /// Updates a day of its source: from one in two days to 60.
  static func updatesPerDay(_ place: Int) -> Double { 0.5 * Double([1, 5, 25, 120][place / 6 % 4]) }

  /// How likely the app is opened at a minute of the day, relative to its likeliest minute.
  static func likelihood(_ place: Int, at minuteOfDay: Double) -> Double {
    let morning = abs(minuteOfDay - 420 - Double(place % 7) * 20)
    let evening = abs(minuteOfDay - 1170 - Double(place % 5) * 20)
    return max(0.02, 1 - min(morning, evening) / 120)
  }

  /// The chance of the mean minute of a day, as a part of the likeliest minute's.
  static let meanLikelihood = 0.17

  /// The policies, each with what it points to on its own, as a configuration that is read has it.
  func policies() -> [AppID: Policy] {
    var policies: [AppID: Policy] = [:]
    for (place, id) in ids.enumerated() {
      var policy = Policy(
        backgroundInterval: Self.isPlanned(place) ? .auto() : .every(.hours(24)),
        tasks: [TaskPolicy(name: "refresh")])
      policy.constraints.network = .unmetered
      policies[id] = policy
    }
    return policies
  }

  /// The saved state of each app: refreshed in the last hours, and planned for between two others.
  mutating func states(plannedIn hours: Range<Double>) -> [AppID: AppState] {
    var states: [AppID: AppState] = [:]
    for (place, id) in ids.enumerated() {
      let start = Self.begin - .seconds(Double.random(in: 1...6, using: &chance) * 3600)
      var state = AppState(lastStart: start, freshAt: start)
      state.seenAt = start
      if Self.isPlanned(place) {
        state.planned = Self.begin + .seconds(Double.random(in: hours, using: &chance) * 3600)
      }
      states[id] = state
    }
    return states
  }

  /// The learners of each app that is planned.
  mutating func learned() -> [AppID: AppHabits] {
    let habits = (0..<Self.habits).map { habit($0).encoded }
    var learned: [AppID: AppHabits] = [:]
    for (place, id) in ids.enumerated() where Self.isPlanned(place) {
      learned[id] = AppHabits(encoded: habits[place % Self.habits])
    }
    return learned
  }

  /// A month of an app: a sync each four hours, openings, nights.
  private mutating func habit(_ place: Int) -> AppHabits {
    var learned = AppHabits()
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    for day in (Self.dayOfBegin - Self.month)...Self.dayOfBegin {
      learned.passNights(upTo: day, device)
      guard day < Self.dayOfBegin else { continue }
      for hour in stride(from: 4.0, through: 24, by: 4) {
        let isNew = Double.random(in: 0..<1, using: &chance) > Self.unchanged(place, for: 240)
        learned.synced(
          after: 240, at: LocalTime(minutes: Double(day) * 1440 + hour * 60), foundNew: isNew, device)
      }
      for half in 0..<48 {
        let likelihood = Self.likelihood(place, at: Double(half) * 30) / Self.meanLikelihood
        if Double.random(in: 0..<48, using: &chance) < Self.openingsPerDay(place) * likelihood {
          learned.opened(at: LocalTime(minutes: Double(day) * 1440 + Double(half) * 30))
        }
      }
    }
    learned.spent(duration: 1.5, cpu: 0.2, bytes: 0, metered: false)
    return learned
  }

  /// The local day of ``begin``: the boot was on the eighth day of the count, which begins a week before.
  private static let dayOfBegin = 7 + 35

  /// How likely the source of an app has nothing new for so many minutes.
  static func unchanged(_ place: Int, for minutes: Double) -> Double {
    exp(-updatesPerDay(place) * minutes / 1440)
  }
}
