import RefreshEngine

/// Apps with extreme settings: intervals, deadlines and graces from the shortest to the longest.
enum Fleet {
  /// Names `count` apps, in order of id.
  static func ids(_ count: Int) -> [AppID] {
    (0..<count).compactMap { AppID("org.example.a\($0 / 10)\($0 % 10)") }
  }

  static func limits(_ chance: inout Chance) -> Limits {
    var limits = Limits(
      foregroundFloor: chance.pick([.seconds(5), .minutes(1), .minutes(2)]),
      backgroundFloor: chance.pick([.minutes(15), .minutes(15), .hours(1)]))
    limits.maxConcurrent = chance.pick([nil, nil, 1, 2, 5])
    limits.maxConcurrentPerUser = chance.pick([nil, nil, nil, 1, 2])
    limits.unknownIsMet = chance.happens(70)
    limits.powerSaver = chance.pick(PowerSaver.allCases)
    limits.settle = chance.pick([.zero, .seconds(20), .minutes(2)])
    return limits
  }

  static func policy(hasQuiet: Bool, planned: Int, _ chance: inout Chance) -> Policy {
    var policy = plainPolicy(&chance)
    if chance.happens(50) { policy.constraints = constraints(&chance) }
    if hasQuiet, chance.happens(50) {
      let from = chance.number(below: 1440)
      policy.quiet = QuietHours(from: from, to: (from + 1 + chance.number(below: 720)) % 1440)
    }
    if chance.happens(50) { policy.maxStale = chance.duration(.hours(1) ... .hours(48)) }
    policy.owner = chance.pick([0, 1000, 1001])
    policy.meteredWhenStale = chance.happens(50)
    policy.isTerminatedOnExit = chance.happens(30)
    if planned > 0, chance.happens(planned), case .every(let floor) = policy.backgroundInterval {
      policy.backgroundInterval = .auto(floor: chance.happens(80) ? floor : nil)
    }
    if chance.happens(40) { policy.staleAfter = chance.duration(.minutes(30) ... .hours(48)) }
    return policy
  }

  private static func constraints(_ chance: inout Chance) -> Constraints {
    var constraints = Constraints()
    constraints.network = chance.pick(NetworkConstraint.allCases)
    if chance.happens(20) { constraints.ssids = ["home"] }
    if chance.happens(20) { constraints.deniedSSIDs = ["cafe"] }
    constraints.power = chance.pick([.any, .any, .ac, .notLow])
    constraints.idle = chance.happens(30)
    constraints.calm = chance.happens(30)
    return constraints
  }

  /// Makes some tasks come after others, which stand before or behind them in the file.
  private static func chain(_ tasks: inout [TaskPolicy], _ chance: inout Chance) {
    guard chance.happens(40) else { return }
    let isBackwards = chance.happens(50)
    for task in tasks.indices {
      for other in tasks.indices where isBackwards ? other > task : other < task {
        if chance.happens(60) { tasks[task].after.append(other) }
      }
    }
  }

  private static func plainPolicy(_ chance: inout Chance) -> Policy {
    var policy = Policy(
      foregroundInterval: foregroundInterval(&chance), backgroundInterval: backgroundInterval(&chance),
      onForeground: chance.pick(OnForeground.allCases),
      deadline: chance.duration(
        chance.pick([
          .milliseconds(1) ... .seconds(5), .seconds(5) ... .seconds(5), .seconds(5) ... .seconds(40),
          .seconds(30) ... .seconds(30), .seconds(40) ... .minutes(10),
        ])),
      grace: chance.duration(chance.pick([.zero ... .zero, .seconds(5) ... .seconds(5), .zero ... .seconds(20)])),
      tasks: (0...chance.number(below: 3)).map { number in
        TaskPolicy(
          name: "task\(number)", newData: chance.pick([.exit, .output, .changed(path: "/srv/data")]),
          noDataExit: chance.pick([100, 100, 3]), retryExit: 75)
      })
    chain(&policy.tasks, &chance)
    return policy
  }

  static func overrides(_ chance: inout Chance) -> Overrides {
    Overrides(
      foregroundInterval: chance.happens(50) ? foregroundInterval(&chance) : nil,
      backgroundInterval: chance.happens(50) ? backgroundInterval(&chance) : nil)
  }

  private static func foregroundInterval(_ chance: inout Chance) -> Interval {
    switch chance.number(below: 10) {
    case 0: .never
    case 1: .minimum
    case 2: .every(chance.duration(.seconds(1) ... .minutes(2)))
    case 3...6: .every(.minutes(5))
    default: .every(chance.duration(.minutes(5) ... .hours(2)))
    }
  }

  private static func backgroundInterval(_ chance: inout Chance) -> BackgroundInterval {
    switch chance.number(below: 10) {
    case 0: .never
    case 1: .every(.zero)
    case 2: .every(chance.duration(.seconds(1) ... .minutes(30)))
    case 3...6: .every(chance.duration(.minutes(30) ... .hours(6)))
    default: .every(chance.duration(.hours(6) ... .hours(48)))
    }
  }
}
