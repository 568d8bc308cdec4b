import RefreshEngine

/// Mistakes in apps' files: at a start the daemon holds such an app, and no other.
extension World {
  /// Puts mistakes into the files of a few apps when the daemon starts.
  mutating func spoilFiles() {
    guard varied > 0, healedAt == nil else { return }
    for id in policies.keys.sorted() where luck.happens(4) {
      guard let policy = policies[id], spoiled[id] == nil else { continue }
      spoiled[id] = policy
      policies[id]?.unusable = "line 1: cannot read this"
      policies[id]?.tasks = []
      expect(.mends(id), in: luck.duration(luck.pick([.zero ... .minutes(5), .zero ... .hours(9)])))
    }
  }

  /// Corrects the file of an app and puts it in force.
  mutating func mendFile(of id: AppID) {
    guard let policy = spoiled.removeValue(forKey: id), policies[id]?.unusable != nil else { return }
    policies[id] = policy
    handle(.configured(limits, policies))
  }
}
