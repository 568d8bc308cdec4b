import RefreshEngine

/// Refreshes that survive the daemon, as the next daemon finds them.
extension World {
  /// Tells a daemon that has just loaded its store which tasks of the previous daemon still run.
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

  /// Reports the ends that the launcher has kept.
  mutating func tellKeptEnds() {
    for (refresh, ends) in kept.sorted(by: { $0.key < $1.key }) {
      for (task, end) in ends.sorted(by: { $0.key < $1.key }) { handle(.taskEnded(refresh, task: task, end)) }
    }
  }
}
