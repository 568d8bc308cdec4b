import RefreshEngine

/// Apps as nobody would think of them: intervals, deadlines and graces from the shortest to the longest.
enum Fleet {
  /// Names `count` apps, in order of id.
  static func ids(_ count: Int) -> [AppID] {
    (0..<count).compactMap { AppID("org.example.a\($0 / 10)\($0 % 10)") }
  }

  static func limits(_ chance: inout Chance) -> Limits {
    Limits(
      foregroundFloor: chance.pick([.seconds(5), .minutes(1), .minutes(2)]),
      backgroundFloor: chance.pick([.minutes(15), .minutes(15), .hours(1)]))
  }

  static func policy(_ chance: inout Chance) -> Policy {
    Policy(
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

  private static func backgroundInterval(_ chance: inout Chance) -> Interval {
    switch chance.number(below: 10) {
    case 0: .never
    case 1: .minimum
    case 2: .every(chance.duration(.seconds(1) ... .minutes(30)))
    case 3...6: .every(chance.duration(.minutes(30) ... .hours(6)))
    default: .every(chance.duration(.hours(6) ... .hours(48)))
    }
  }
}
