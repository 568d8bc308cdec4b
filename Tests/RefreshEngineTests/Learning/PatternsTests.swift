import Testing

@testable import RefreshEngine

/// The machine's other apps help to foretell an app that was opened a few times only.
@Suite struct PatternsTests {
  /// A machine whose apps are opened at 7:00 or at 10:00, some of each also at 19:00, others at 22:00.
  private static let machine: DeviceHabits = {
    var device = DeviceHabits(budget: Budget(profile: .balanced))
    var apps = [AppHabits](repeating: AppHabits(), count: 20)
    for day in 0..<28 {
      device.beginNight()
      for index in apps.indices {
        apps[index].passNights(upTo: day, device)
        device.absorb(apps[index])
      }
      device.endNight()
      for index in apps.indices {
        for hour in [index % 2 == 0 ? 7.0 : 10, index % 4 < 2 ? 19 : 22] {
          let late = UseTests.off(day * 5 + index) * 2
          apps[index].opened(at: LocalTime(minutes: Double(day) * LocalTime.minutesOfDay + hour * 60 + late))
        }
      }
    }
    return device
  }()

  /// Openings expected on the fourth day of an app, as parts of the day's.
  private static func shares(_ use: Use, _ shared: SharedUse) -> (around: (Int) -> Double, all: Double) {
    let day = use.expected(3..<4, shared)[0].openings
    return ({ UseTests.around($0 * 60, day) }, day.reduce(0, +))
  }

  @Test func `Three openings tell which of the machine's mornings is an app's`() {
    let use = UseTests.use(0..<3) { _ in [7 * 60] }
    let (known, alone) = (Self.shares(use, Self.machine.use), Self.shares(use, SharedUse()))
    // At 10:00 the machine's other apps are opened, not this one.
    #expect(known.around(7) > 3 * known.around(10))
    #expect(known.around(7) / known.all > alone.around(7) / alone.all)
  }

  @Test func `Nothing is expected when no app of the machine is opened, at night or in the afternoon`() {
    let use = UseTests.use(0..<3) { _ in [7 * 60] }
    let (known, alone) = (Self.shares(use, Self.machine.use), Self.shares(use, SharedUse()))
    #expect(known.around(3) / known.all < 0.8 * alone.around(3) / alone.all)
    #expect(known.around(15) / known.all < 0.5 * alone.around(15) / alone.all)
  }

  @Test func `An app of other times is not forced into the machine's patterns`() {
    let use = UseTests.use(0..<28) { _ in [3 * 60] }
    let day = use.expected(28..<29, Self.machine.use)[0].openings
    #expect(UseTests.around(3 * 60, day) > 0.6)
    #expect(UseTests.around(7 * 60, day) < 0.1)
  }

  @Test func `What is shared is the same after it was written and read`() throws {
    let device = Self.machine
    let read = try #require(DeviceHabits(encoded: device.encoded, budget: device.budget))
    #expect(read.use.patterns == device.use.patterns)
    #expect(read.encoded == device.encoded)
    #expect(DeviceHabits(encoded: device.encoded.dropLast(), budget: device.budget) == nil)
  }

  @Test func `A machine before its first night is the same after it was written and read`() throws {
    let device = DeviceHabits(budget: Budget(profile: .balanced))
    let read = try #require(DeviceHabits(encoded: device.encoded, budget: device.budget))
    #expect(read.use == device.use)
    let use = UseTests.use(0..<1) { _ in [7 * 60] }
    #expect(use.expected(1..<2, read.use)[0].openings == use.expected(1..<2, device.use)[0].openings)
  }
}
