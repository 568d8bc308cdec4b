import RefreshEngine
import RefreshRehearsal
import Testing

/// The engine on habits that are plain to see, over weeks of virtual time.
@Suite struct RehearsalTests {
  static let day = 1440.0

  static func trace(_ id: String = "org.example.todo", days: Int = 28, warmUp: Int = 21, opened: [Double]) throws
    -> Trace
  {
    let id = try #require(AppID(id))
    let updates = stride(from: 31, to: Double(days) * day, by: 97).map { $0 }
    let openings = (0..<days).flatMap { today in opened.map { Double(today) * day + $0 } }
    return Trace(apps: [Trace.TracedApp(id: id, updates: updates, openings: openings)], days: days, warmUp: warmUp)
  }

  static func policies(_ change: (inout Policy) -> Void) throws -> Rehearsal.Policies {
    var policy = Rehearsal.standard
    change(&policy)
    return Rehearsal.Policies(apps: [try #require(AppID("org.example.todo")): policy])
  }

  /// The trace with an app beside it that is opened often: without one, the whole budget is the first app's.
  static func withNeighbour(_ trace: Trace) throws -> Trace {
    var trace = trace
    let busy = try Self.trace("org.example.mail", days: trace.days, opened: (7...22).map { Double($0 * 60) })
    trace.apps += busy.apps
    return trace
  }

  /// The refreshes of the first app after the days that were for learning, as minutes of their days.
  static func minutes(_ schedule: Rehearsal.Schedule, of trace: Trace) -> [Double] {
    let measured = Double(trace.warmUp) * day
    let times = schedule.refreshes[trace.apps[0].id] ?? []
    return times.filter { $0 >= measured }.map { $0.truncatingRemainder(dividingBy: day) }
  }

  @Test func `An app that is opened at noon is refreshed shortly before, and not while its user sleeps`() throws {
    let trace = try Self.withNeighbour(try Self.trace(days: 42, warmUp: 35, opened: [12 * 60]))
    let schedule = Rehearsal.run(trace, Rehearsal.Policies())
    let minutes = Self.minutes(schedule, of: trace)
    let before = minutes.filter { (11 * 60..<12 * 60).contains($0) }
    #expect(before.count >= 6, "\(minutes)")
    #expect(minutes.filter { $0 < 5 * 60 || $0 > 20 * 60 }.isEmpty, "\(minutes)")
  }

  @Test func `An app that nobody opens any more is refreshed only when its data would be too old`() throws {
    let trace = try Self.withNeighbour(try Self.trace(days: 60, warmUp: 53, opened: []))
    let policies = try Self.policies { $0.maxStale = .hours(48) }
    let schedule = Rehearsal.run(trace, policies)
    #expect((3...4).contains(Self.minutes(schedule, of: trace).count))
  }

  @Test func `The interval is the floor and max_stale the ceiling of every plan`() throws {
    let trace = try Self.trace(opened: [8 * 60, 20 * 60])
    let policies = try Self.policies {
      $0.backgroundInterval = .auto(floor: .hours(3))
      $0.maxStale = .hours(7)
    }
    let times = try #require(Rehearsal.run(trace, policies).refreshes.values.first)
    let syncs = (times + trace.apps[0].openings).sorted()
    for (last, next) in zip(syncs, syncs.dropFirst()) where times.contains(next) {
      #expect(next - last >= 180, "at \(next)")
      #expect(next - last <= 420 + 15, "at \(next)")
    }
  }

  @Test func `A pinned opening counts from the first day`() throws {
    let trace = try Self.trace(days: 5, warmUp: 1, opened: [])
    let policies = try Self.policies {
      $0.pins.openings = [12 * 60]
      $0.pins.newDataPerDay = 10
    }
    let minutes = Self.minutes(Rehearsal.run(trace, policies), of: trace)
    #expect(minutes.filter { (11 * 60..<12 * 60).contains($0) }.count >= 3, "\(minutes)")
  }

  @Test func `A fleet takes no more than the budget of its profile`() throws {
    let apps = try (0..<8).map { number in
      try Self.trace("org.example.a\(number)", opened: [Double(400 + 60 * number), 1200]).apps[0]
    }
    let trace = Trace(apps: apps, days: 28, warmUp: 14)
    for profile in Profile.allCases {
      var policies = Rehearsal.Policies()
      policies.limits.profile = profile
      let spent = Freshness(Rehearsal.run(trace, policies), on: trace).refreshesPerAppAndDay
      #expect(0.5 < spent && spent < profile.refreshesPerAppAndDay * 1.15, "\(profile): \(spent)")
    }
  }

  /// A week in which the fleet is opened more often than before, or a price that lags, may take a little more.
  @Test func `The budget holds in every week, wherever that begins, once the price is known`() throws {
    let apps = try (0..<8).map { number in
      try Self.trace("org.example.a\(number)", days: 56, opened: [Double(400 + 60 * number), 1200]).apps[0]
    }
    let trace = Trace(apps: apps, days: 56, warmUp: 14)
    for profile in Profile.allCases {
      var policies = Rehearsal.Policies()
      policies.limits.profile = profile
      let times = Rehearsal.run(trace, policies).refreshes.values.flatMap { $0 }
      let days = (0..<56).map { day in times.count { Int($0 / Self.day) == day } }
      for first in 14...49 {
        let spent = Double(days[first..<first + 7].reduce(0, +)) / 7 / Double(apps.count)
        #expect(spent <= profile.refreshesPerAppAndDay * 1.25, "\(profile): \(spent) in the week from day \(first)")
      }
    }
  }

  @Test func `An app without a task is rehearsed as one that refreshes itself`() throws {
    let trace = try Self.trace(days: 6, warmUp: 2, opened: [600])
    let policies = try Self.policies { $0.tasks = [] }
    #expect(Rehearsal.run(trace, policies).refreshes == Rehearsal.run(trace, Rehearsal.Policies()).refreshes)
  }

  @Test func `The same trace gives the same schedule`() throws {
    let trace = try Self.trace(days: 6, warmUp: 2, opened: [600])
    #expect(
      Rehearsal.run(trace, Rehearsal.Policies()).refreshes == Rehearsal.run(trace, Rehearsal.Policies()).refreshes)
  }
}
