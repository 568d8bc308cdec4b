import Testing

@testable import RefreshEngine

/// The plan of an app that is opened at noon and whose source has something new every few minutes, by its floor.
@Suite struct FloorTests {
  /// Plays days of the app: refreshes by plan, an opening at noon, and the time since the last sync at each opening.
  private static func play(floor: Double, ceiling: Double? = nil, days: Int = 28) -> (
    refreshes: [Double], ages: [Double]
  ) {
    var device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    var (last, refreshes, ages) = (0.0, [Double](), [Double]())
    func sync(at minute: Double) {
      app.synced(after: minute - last, at: LocalTime(minutes: minute), foundNew: true, device)
      last = minute
    }
    func planned(at now: Double) -> Double {
      let plan = app.plan(
        at: LocalTime(minutes: now), age: now - last, notBefore: max(0, last + floor - now),
        ceiling: ceiling.map { max(0, last + $0 - now) }, device, Pins())
      return now + plan.wait
    }
    for day in 0..<days {
      let midnight = Double(day) * LocalTime.minutesOfDay
      device.beginNight()
      device.absorb(app)
      device.endNight()
      app.passNights(upTo: day, floor: floor, ceiling: ceiling, device)
      // Two minutes before or after noon.
      let opening = midnight + 720 + Double(day * 3 % 5) - 2
      var next = planned(at: midnight)
      for end in [opening, midnight + LocalTime.minutesOfDay] {
        while next < end {
          refreshes.append(next)
          sync(at: next)
          next = planned(at: next)
        }
        guard end == opening else { continue }
        ages.append(opening - last)
        app.opened(at: LocalTime(minutes: opening))
        sync(at: opening)
        next = planned(at: opening)
      }
    }
    return (refreshes, ages)
  }

  @Test(arguments: [15.0, 60, 240])
  func `An app that is opened at noon is refreshed just before, whatever its floor`(floor: Double) {
    let (refreshes, ages) = Self.play(floor: floor)
    let learnt = 14 * LocalTime.minutesOfDay
    let mean = ages.dropFirst(14).reduce(0, +) / Double(ages.count - 14)
    let aDay = Double(refreshes.count { $0 >= learnt }) / 14
    // With a floor of four hours there is one refresh for the habit, and it must come before the earliest opening.
    #expect(mean <= (floor < 240 ? 15 : 25), "\(mean) min")
    #expect(aDay <= 3, "\(aDay) a day")
    for (before, after) in zip(refreshes, refreshes.dropFirst()) { #expect(after - before >= floor) }
  }

  @Test(arguments: [48, 72, 168, 24.0 * 365 * 10])
  func `An interval beyond the plan's horizon has a plan all the same`(hours: Double) {
    var app = AppHabits()
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    app.passNights(upTo: 3, floor: hours * 60, ceiling: nil, device)
    let plan = app.plan(
      at: LocalTime(minutes: 3 * LocalTime.minutesOfDay + 1_430), age: 0, notBefore: hours * 60, ceiling: nil, device,
      Pins())
    #expect(plan.wait >= min(hours * 60, 36 * 60))
  }

  @Test func `A ceiling that a person set is kept, and the refresh before noon all the same`() {
    let (refreshes, ages) = Self.play(floor: 60, ceiling: 360)
    let mean = ages.dropFirst(14).reduce(0, +) / Double(ages.count - 14)
    #expect(mean <= 20, "\(mean) min")
    for (before, after) in zip(refreshes, refreshes.dropFirst()) { #expect(after - before <= 720) }
  }
}
