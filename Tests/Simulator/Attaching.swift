import RefreshEngine

/// Attached processes, and the policies that go with them.
extension World {
  /// Changes some policies to long work, to apps without tasks that an attached process refreshes, or to apps whose long
  /// waits are reported.
  mutating func vary(_ policy: Policy) -> Policy {
    var policy = policy
    policy.pushLimit = pushLimit
    addOwnConditions(to: &policy)
    addFolders(to: &policy)
    if whim.happens(40) { policy.heldFor = whim.duration(.minutes(10) ... .hours(12)) }
    if dice.happens(varied) { policy.tasks = [] }
    if dice.happens(varied) {
      policy.isProcessing = true
      (policy.constraints.idle, policy.constraints.power) = (true, .ac)
    }
    return policy
  }

  mutating func happenToAttached() {
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

  /// Removes the attached process of an app, with its work.
  mutating func detach(_ id: AppID) {
    guard clients.remove(id) != nil else { return }
    let running = processes.filter { $0.app == id && $0.isAttached }
    processes.removeAll { $0.app == id && $0.isAttached }
    handle(.detached(id))
    for process in running {
      handle(.taskEnded(process.refresh, task: 0, TaskEnd(exit: .lostClient)))
    }
  }
}
