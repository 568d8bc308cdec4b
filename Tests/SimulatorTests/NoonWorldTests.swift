import Testing

@testable import RefreshEngine

/// People of habit get fresh data at a low price, and each mistake in the plan is seen in what they get.
@Suite struct NoonWorldTests {
  /// Opened at noon; four hours between two refreshes at least.
  private static let noon = NoonWorld.Habit(openings: [720], floor: 240)
  /// Opened all day, and refreshed every half hour because its file says so.
  private static let busy = NoonWorld.Habit(openings: (8...22).map { Double($0 * 60) }, floor: 15, ceiling: 30)

  @Test func `An app that is opened at noon is fresh then, with few refreshes`() {
    let world = NoonWorld([Self.noon])
    #expect(world.age(of: 0) <= 12, "\(world.age(of: 0))")
    #expect(world.refreshesADay(of: 0) <= 3, "\(world.refreshesADay(of: 0))")
  }

  @Test func `A plan that forgets the floor is too early for noon`() {
    var habit = Self.noon
    habit.isOpenedElse = true
    let (age, forgetful) = (NoonWorld([habit]).age(of: 0), NoonWorld([habit], fault: .floorForgotten).age(of: 0))
    #expect(age <= 60, "\(age)")
    #expect(forgetful > 2 * age, "\(forgetful), without the fault \(age)")
  }

  @Test func `A habit that counts twice on a day takes refreshes that spare nothing`() {
    let habit = NoonWorld.Habit(openings: [720], spread: 40, floor: 15)
    let (good, twice) = (NoonWorld([habit]), NoonWorld([habit], fault: .habitCountedTwice))
    #expect(
      twice.refreshesADay(of: 0) > 1.2 * good.refreshesADay(of: 0),
      "\(twice.refreshesADay(of: 0)), without the fault \(good.refreshesADay(of: 0))")
  }

  @Test func `An app that is refreshed all day takes nothing from the others, unless the price winds up`() {
    let fleet = [Self.noon, Self.busy]
    let (alone, beside) = (NoonWorld([Self.noon]).age(of: 0), NoonWorld(fleet))
    #expect(beside.refreshesADay(of: 1) > 24)
    #expect(beside.age(of: 0) <= alone * 1.05 + 0.5, "\(beside.age(of: 0)), alone \(alone)")
    let wound = NoonWorld(fleet, fault: .priceWoundUp).age(of: 0)
    #expect(wound > 2 * alone, "\(wound), alone \(alone)")
  }
}
