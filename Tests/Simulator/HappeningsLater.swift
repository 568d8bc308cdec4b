import RefreshEngine

/// Attached processes, sleep that is announced, and the policies that go with them.
extension World {
  /// Makes some policies those of long work, and of apps that only an attached process refreshes.
  mutating func vary(_ policy: Policy) -> Policy {
    var policy = policy
    policy.pushLimit = pushLimit
    if dice.happens(varied) { policy.tasks = [] }
    if dice.happens(varied) {
      policy.isProcessing = true
      (policy.constraints.idle, policy.constraints.power) = (true, .ac)
    }
    return policy
  }

  mutating func happenLater() {
    expect(.more, in: dice.duration(dice.pick([.zero ... .minutes(10), .zero ... .hours(4)])))
    let busy = dice.happens(40) && !processes.isEmpty ? dice.pick(processes).app : nil
    let id = busy ?? dice.pick(ids)
    switch dice.number(below: 10) {
    case 0..<5:
      clients.insert(id)
      attach(id)
    case 5..<8: detach(id)
    default:
      guard brain != nil, !book.isSuspending else { return }
      let length = dice.duration(dice.pick([.seconds(1) ... .minutes(1), .minutes(1) ... .hours(10)]))
      handle(.suspending(until: instant + .milliseconds(4500)))
      expect(.sleeps(dice.happens(80) ? length : nil), in: .milliseconds(4500))
    }
  }

  mutating func attach(_ id: AppID) {
    guard brain != nil, clients.contains(id) else { return }
    handle(.attached(id))
    if healedAt == nil {
      expect(.detaches(id), in: dice.duration(dice.pick([.zero ... .minutes(1), .zero ... .hours(9)])))
    }
  }

  /// The process is gone, and what it was doing with it.
  mutating func detach(_ id: AppID) {
    guard clients.remove(id) != nil else { return }
    let running = processes.filter { $0.app == id && $0.isAttached }
    processes.removeAll { $0.app == id && $0.isAttached }
    handle(.detached(id))
    for process in running {
      handle(.taskEnded(process.refresh, task: 0, TaskEnd(exit: .lostClient)))
    }
  }

  /// Has the user come back in the middle of long work, now and then.
  mutating func disturb() {
    guard healedAt == nil, dice.happens(40) else { return }
    expect(.idle(false), in: dice.duration(.zero ... .minutes(1)))
    expect(.idle(true), in: dice.duration(.minutes(1) ... .hours(2)))
  }

  mutating func fallAsleep(for length: Duration?) {
    // The daemon may be another one by now, which nobody has told.
    if book.isSuspending { observe(.sleeps) }
    guard let length else { return handle(.resumed) }
    suspend(for: length)
  }

  /// Tells a daemon that has just read its store what is there of the refreshes that the one before it began.
  mutating func tellSurvivors() {
    guard outlives, fault?.ofDaemon != .leavesOrphans else { return }
    var there: Set<RefreshID> = []
    for (id, state) in store.states.sorted(by: { $0.key < $1.key }) {
      guard let refresh = state.running?.id, let tasks = policies[id]?.tasks.indices else { continue }
      let running = processes.filter { $0.refresh == refresh && !$0.isAttached }.map(\.task)
      let survivors = Set(running).union(kept[refresh, default: [:]].keys).filter(tasks.contains)
      guard !survivors.isEmpty else { continue }
      there.insert(refresh)
      handle(.survived(refresh, tasks: survivors))
    }
    processes.removeAll { !there.contains($0.refresh) }
    kept = kept.filter { there.contains($0.key) }
  }

  /// Tells it of the ends that the launcher has kept.
  mutating func tellKeptEnds() {
    for (refresh, ends) in kept.sorted(by: { $0.key < $1.key }) {
      for (task, end) in ends.sorted(by: { $0.key < $1.key }) { handle(.taskEnded(refresh, task: task, end)) }
    }
  }
}
