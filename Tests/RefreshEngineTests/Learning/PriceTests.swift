import Testing

@testable import RefreshEngine

/// The profile says what a refresh must spare, and it is more only while too much is taken.
@Suite struct PriceTests {
  /// Nights of apps that would take some refreshes a day at the price, and take fewer the more they pay.
  struct Machine {
    var device = DeviceHabits(budget: Budget(profile: .balanced))
    var apps: [Spending] = []

    /// Passes days on which each app wants these refreshes; twice the price divides them by the square root of two.
    mutating func pass(days: Int, wanted: [Double]) -> [Double] {
      apps += Array(repeating: Spending(), count: wanted.count - apps.count)
      for _ in 0..<days {
        device.beginNight()
        for index in apps.indices {
          apps[index].today = Float(
            wanted[index] / (Double(apps[index].factor) * device.price / device.budget.price).squareRoot())
          var learned = AppHabits()
          learned.spending = apps[index]
          device.absorb(learned)
        }
        device.endNight()
        for index in apps.indices {
          apps[index].passNight(most: device.budget.refreshesPerAppAndDay * Price.mostShares)
        }
      }
      return zip(wanted, apps).map { $0 / (Double($1.factor) * device.price / device.budget.price).squareRoot() }
    }
  }

  @Test func `However much one app wants, it is held to three shares, and the others pay the price of the profile`() {
    var machine = Machine()
    for day in 1...60 {
      let taken = machine.pass(days: 1, wanted: [2, 3, 4, 4.9, 1, 300])
      #expect(Array(taken[..<5]) == [2, 3, 4, 4.9, 1], "day \(day)")
      if day > 21 { #expect((12...18).contains(taken[5]), "day \(day)") }
    }
  }

  @Test func `Apps that all want much are held to the budget of the machine, each to the same`() {
    var machine = Machine()
    let taken = machine.pass(days: 40, wanted: Array(repeating: 40, count: 10))
    #expect(taken.allSatisfy { (4.5...5.5).contains($0) })
  }

  @Test func `What some apps do not take others may, and no app pays more while all are within the budget`() {
    var machine = Machine()
    let taken = machine.pass(days: 30, wanted: [14, 1, 1, 1, 1])
    #expect(taken == [14, 1, 1, 1, 1])
  }

  @Test(arguments: [1, 7, 60]) func `A week after a rush the price is what it was before`(days: Int) {
    var machine = Machine()
    let usual: [Double] = [6, 5, 4, 3, 2]
    _ = machine.pass(days: 30, wanted: usual)
    _ = machine.pass(days: days, wanted: [300, 200, 100, 80, 60])
    #expect(machine.pass(days: 7, wanted: usual) == usual)
  }

  @Test func `A refresh that runs long, or moves many bytes over a metered network, counts as several`() {
    var device = DeviceHabits(budget: Budget(profile: .balanced))
    #expect(device.load(runSeconds: 9, meteredBytes: 0) == 1)
    #expect(device.load(runSeconds: 30, meteredBytes: 0) == 3)
    device.sharers = 4
    #expect(device.load(runSeconds: 1, meteredBytes: 5e6) == 2)
  }

  @Test func `The price of a profile is minutes of age, and the same from the first day on`() {
    for (profile, price) in [(Profile.thrifty, 100.0), (.balanced, 10.5), (.fresh, 2)] {
      var device = DeviceHabits(budget: Budget(profile: profile))
      #expect(abs(device.price - price) < 0.01)
      device.beginNight()
      device.endNight()
      #expect(abs(device.price - price) < 0.01)
    }
  }
}
