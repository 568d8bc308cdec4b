import Testing

@testable import RefreshEngine

/// The learners as a user sees them: when the next refresh is planned for an app of known habits.
@Suite("AppHabits")
struct AppHabitsTests {
  static let day = LocalTime.minutesOfDay

  /// An app after `days` days in which it was opened at these minutes and every sync found something, or nothing.
  static func app(openedAt minutes: [Double], days: Int = 28, findsNew: Bool = true) -> (AppHabits, DeviceHabits) {
    var device = DeviceHabits(budget: Budget(profile: .balanced))
    var app = AppHabits()
    var last = 0.0
    for today in 0..<days {
      device.beginNight()
      app.passNights(upTo: today, device)
      device.absorb(app)
      device.endNight()
      for minute in minutes {
        let now = LocalTime(minutes: Double(today) * day + minute)
        app.opened(at: now)
        app.synced(after: now.minutes - last, at: now, foundNew: findsNew, device)
        last = now.minutes
      }
    }
    app.passNights(upTo: days, device)
    return (app, device)
  }

  static func plan(_ app: AppHabits, _ device: DeviceHabits, at minute: Double, pins: Pins = Pins()) -> Plan {
    app.plan(
      at: LocalTime(minutes: 28 * day + minute), age: minute, notBefore: 15, ceiling: nil, device, pins)
  }

  @Test("an app that is opened at noon every day is refreshed in the morning before, not at night")
  func noon() {
    let (app, device) = Self.app(openedAt: [12 * 60])
    let plan = Self.plan(app, device, at: 0)
    #expect((9 * 60...12 * 60).contains(plan.wait))
  }

  @Test("a source that never has anything new is asked less often than one that always has")
  func neverNew() {
    let (busy, device) = Self.app(openedAt: [8 * 60, 20 * 60])
    let (quiet, other) = Self.app(openedAt: [8 * 60, 20 * 60], findsNew: false)
    #expect(busy.newDataPerDay(device, Pins()) > 4 * quiet.newDataPerDay(other, Pins()))
    #expect(Self.plan(quiet, other, at: 0).wait >= Self.plan(busy, device, at: 0).wait)
  }

  @Test("an app that is not opened any more sleeps, and wakes at its next use")
  func dormant() {
    var (app, device) = Self.app(openedAt: [12 * 60])
    for today in 29...2000 { app.passNights(upTo: today, device) }
    let later = LocalTime(minutes: 2000 * Self.day)
    let asleep = app.plan(at: later, age: 0, notBefore: 15, ceiling: nil, device, Pins())
    for today in 2000..<2007 {
      app.passNights(upTo: today, device)
      app.opened(at: LocalTime(minutes: Double(today) * Self.day + 720))
    }
    app.passNights(upTo: 2007, device)
    let week = LocalTime(minutes: 2007 * Self.day)
    let awake = app.plan(at: week, age: 720, notBefore: 15, ceiling: nil, device, Pins())
    #expect(asleep.wait > awake.wait)
  }

  @Test("an app counts as one that nobody opens after eight weeks without an opening, and not yet after three")
  func unused() {
    for (days, waits) in [(21, false), (56, true)] {
      let (app, device) = Self.app(openedAt: [], days: days)
      let now = LocalTime(minutes: Double(days) * Self.day)
      let plan = app.plan(at: now, age: 0, notBefore: 15, ceiling: 5000, device, Pins())
      #expect((plan.wait == 5000 && plan.isDormant) == waits)
    }
  }

  @Test("the floor is kept, and the ceiling, and the floor before the ceiling")
  func bounds() {
    let (app, device) = Self.app(openedAt: [12 * 60])
    let at = LocalTime(minutes: 28 * Self.day + 700)
    for (floor, ceiling) in [(300.0, 2000.0), (15, 30), (60, 30)] {
      let wait = app.plan(at: at, age: 700, notBefore: floor, ceiling: ceiling, device, Pins()).wait
      #expect(wait >= floor && wait <= max(floor, ceiling))
    }
  }

  @Test("pinned numbers take the place of learnt ones")
  func pins() {
    let (app, device) = Self.app(openedAt: [12 * 60])
    var pins = Pins()
    (pins.newDataPerDay, pins.cost, pins.openings) = (24, 2, [18 * 60])
    #expect(app.newDataPerDay(device, pins) == 24)
    #expect(app.cost(device, pins) == 2)
    #expect(Self.plan(app, device, at: 13 * 60, pins: pins).wait <= 5 * 60)
  }

  @Test("a refresh that takes longer than the typical one is dearer, and a metered one more so")
  func cost() {
    var (device, apps) = (DeviceHabits(budget: Budget(profile: .balanced)), [AppHabits(), AppHabits(), AppHabits()])
    for _ in 0..<20 {
      apps[0].spent(duration: 1, cpu: 0.1, bytes: 1e5, metered: false)
      apps[1].spent(duration: 20, cpu: 5, bytes: 1e5, metered: false)
      apps[2].spent(duration: 20, cpu: 5, bytes: 1e5, metered: true)
    }
    device.beginNight()
    for app in apps { device.absorb(app) }
    device.endNight()
    let costs = apps.map { $0.cost(device, Pins()) }
    #expect(costs[0] < costs[1] && costs[1] < costs[2])
  }

  @Test("what is learnt is the same after it was written and read")
  func encoding() throws {
    let (app, device) = Self.app(openedAt: [8 * 60, 12 * 60])
    #expect(AppHabits(encoded: app.encoded)?.encoded == app.encoded)
    #expect(DeviceHabits(encoded: device.encoded, budget: device.budget)?.encoded == device.encoded)
    #expect(app.encoded.count <= 810)
  }

  @Test("what another version wrote is not read")
  func otherVersions() {
    let (app, device) = Self.app(openedAt: [8 * 60])
    for change in [-1, 1] {
      var (ofApp, ofDevice) = (app.encoded, device.encoded)
      ofApp[0] = UInt8(Int(ofApp[0]) + change)
      ofDevice[0] = UInt8(Int(ofDevice[0]) + change)
      #expect(AppHabits(encoded: ofApp) == nil)
      #expect(DeviceHabits(encoded: ofDevice, budget: device.budget) == nil)
    }
  }

  @Test("an app is planned alike after it was written and read")
  func encodedPlan() throws {
    let (app, device) = Self.app(openedAt: [8 * 60, 12 * 60])
    let read = try #require(AppHabits(encoded: app.encoded))
    for minute in stride(from: 0.0, to: Self.day, by: 60) {
      let (before, after) = (Self.plan(app, device, at: minute), Self.plan(read, device, at: minute))
      #expect(abs(before.wait - after.wait) <= 10)
      #expect(abs(before.worth - after.worth) <= 0.1)
    }
  }

  @Test("a long holiday, or a clock that jumped ahead, leaves what was learnt as a week without use does")
  func holiday() {
    var (week, device) = Self.app(openedAt: [12 * 60])
    var year = week
    week.passNights(upTo: 28 + 7, device)
    year.passNights(upTo: 28 + 7 * 52, device)
    #expect(year.usage(device, Pins()) == week.usage(device, Pins()))
  }

  @Test("several days off teach the same as the same days one by one")
  func missedDays() {
    var (once, device) = Self.app(openedAt: [12 * 60])
    var daily = once
    once.passNights(upTo: 28 + 5, device)
    for day in 29...33 { daily.passNights(upTo: day, device) }
    #expect(once.use == daily.use)
    let (before, _) = Self.app(openedAt: [12 * 60])
    #expect(once.usage(device, Pins()).openingsPerDay < before.usage(device, Pins()).openingsPerDay)
  }

  @Test("after the clock was set back the nights pass again")
  func setBack() {
    var (app, device) = Self.app(openedAt: [12 * 60])
    app.passNights(upTo: 10_000, device)
    app.passNights(upTo: 29, device)
    let before = app.usage(device, Pins()).openingsPerDay
    app.passNights(upTo: 36, device)
    #expect(app.usage(device, Pins()).openingsPerDay < before)
  }

  @Test("garbage is not taken for what was learnt")
  func garbage() {
    let (app, _) = Self.app(openedAt: [12 * 60])
    #expect(AppHabits(encoded: []) == nil)
    #expect(AppHabits(encoded: app.encoded.dropLast()) == nil)
    #expect(AppHabits(encoded: app.encoded.map { _ in 0xff }) == nil)
  }
}
