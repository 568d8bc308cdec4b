import RefreshEngine

/// An app of a script: its policy, and the behaviour of its tasks.
///
/// The keys of the policy:
///
/// - `foreground` is an interval; `on` is `on_foreground`.
/// - `deadline`, `grace`, `stale-after`, `held-for` and `max-stale` are durations.
/// - `tasks` has names, each after the tasks that follow a `>` (`pull,index>pull`), or is `none`.
/// - `judge` is `exit`, `output` or `changed`; `no-data-exit` and `retry-exit` are exit codes.
/// - `quiet` is `FROM-TO`, since midnight.
/// - `network` and `power` are words of the file.
/// - `mounted`, `present`, `reachable` and `when` are names of conditions of its own.
/// - `idle`, `calm`, `metered-when-stale`, `processing`, `reports-ends` and `terminated-on-exit` are `yes`.
/// - `notice-after` is `failures_before_notice`; without it no app counts as failing.
/// - `background` is `never`, a duration, or `auto` with a floor after a comma (`auto,1h`).
/// - `watch` is the settle time of its one watched folder.
/// - `pushes` is `PER-HOUR/BURST`.
/// - `guard` is the unit that it guards, and then it is not refreshed.
///
/// The keys of the behaviour are `says` (`yes` or `no`, the immediate answer to each question), `takes` (a duration or
/// `forever`), `exit` (a code; -1 if it cannot be started), `stubborn` (`yes`: the task ignores SIGTERM) and `immortal` (`yes`: no signal ends it).
struct AppLine {
  var policy: Policy
  /// How long a task takes by itself; nil if it never ends by itself.
  var takes: Duration? = .seconds(1)
  var exit: Int32 = 0
  var isStubborn = false
  /// The immediate answer of its condition commands; nil if the script answers.
  var says: Bool?
  var isImmortal = false

  init(_ keys: [String]) throws {
    var task = TaskPolicy(name: "task")
    var chains = [["task"]]
    policy = Policy(backgroundInterval: .every(.hours(24)), tasks: [])
    policy.failuresBeforeNotice = nil
    for key in keys {
      let parts = key.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw ScriptError(text: "\(key) is no KEY=VALUE") }
      let value = parts[1]
      switch parts[0] {
      case "foreground": policy.foregroundInterval = try interval(value)
      case "background": policy.backgroundInterval = try backgroundInterval(value)
      case "on": policy.onForeground = try value.read(OnForeground.init(rawValue:))
      case "deadline": policy.deadline = try duration(value)
      case "grace": policy.grace = try duration(value)
      case "tasks" where value == "none": chains = []
      case "tasks": chains = value.split(separator: ",").map { $0.split(separator: ">").map(String.init) }
      case "judge": task.newData = try value.read(Self.judgement)
      case "no-data-exit": task.noDataExit = try value.read { Int32($0) }
      case "retry-exit": task.retryExit = try value.read { Int32($0) }
      case "quiet":
        let ends = try value.split(separator: "-").map { Int(try duration(String($0)) / .seconds(60)) }
        guard ends.count == 2 else { throw ScriptError(text: "\(value) is no FROM-TO") }
        policy.quiet = QuietHours(from: ends[0], to: ends[1])
      case "owner": policy.owner = try value.read { UInt32($0) }
      case "network": policy.constraints.network = try value.read(NetworkConstraint.init(rawValue:))
      case "power": policy.constraints.power = try value.read(PowerConstraint.init(rawValue:))
      case "idle": policy.constraints.idle = value == "yes"
      case "calm": policy.constraints.calm = value == "yes"
      case "mounted": policy.constraints.mounted = value
      case "present": policy.constraints.present = value
      case "reachable": policy.constraints.reachable = value
      case "when": policy.constraints.when = value
      case "when-digest": policy.constraints.whenDigest = try value.read { UInt64($0) }
      case "max-stale": policy.maxStale = try duration(value)
      case "metered-when-stale": policy.meteredWhenStale = value == "yes"
      case "processing": policy.isProcessing = value == "yes"
      case "stale-after": policy.staleAfter = try duration(value)
      case "notice-after": policy.failuresBeforeNotice = try value.read { Int32($0) }
      case "reports-ends": policy.reportsEnds = value == "yes"
      case "terminated-on-exit": policy.isTerminatedOnExit = value == "yes"
      case "held-for": policy.heldFor = try duration(value)
      case "guard": policy.guarded = GuardedUnit(value)
      case "means": policy.guarded?.means = try value.read(GuardedUnit.Means.init(rawValue:))
      case "watch": (policy.watch, policy.watchSettle) = (["~/Notes"], try duration(value))
      case "pushes":
        // PER-HOUR/BURST
        let parts = try value.split(separator: "/").map { try String($0).read { Int($0) } }
        policy.pushLimit = PushLimit(perHour: parts[0], burst: parts[parts.count - 1])
      case "says": says = value == "yes"
      case "takes": takes = value == "forever" ? nil : try duration(value)
      case "exit": exit = try value.read { Int32($0) }
      case "stubborn": isStubborn = value == "yes"
      case "immortal": isImmortal = value == "yes"
      default: throw ScriptError(text: "\(key) is no key of an app")
      }
    }
    policy.tasks = chains.map { chain in
      var named = task
      named.name = chain.first ?? ""
      named.after = chain.dropFirst().compactMap { before in chains.firstIndex { $0.first == before } }
      return named
    }
  }

  private static func judgement(_ text: String) -> NewData? {
    switch text {
    case "exit": .exit
    case "output": .output
    case "changed": .changed(path: "/srv/data")
    default: nil
    }
  }
}

extension String {
  /// The value that the word stands for.
  func read<Value>(_ reading: (String) -> Value?) throws -> Value {
    guard let value = reading(self) else { throw ScriptError(text: "\(self) is not understood") }
    return value
  }
}
