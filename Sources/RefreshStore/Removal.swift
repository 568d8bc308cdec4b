import RefreshEngine

/// Deletes every row of an app: its state, its history and its learners.
struct Removal {
  private let deletes: [Statement]

  init(_ database: Database) throws(StoreError) {
    let tables = [
      "refresh", "wait", "learned", "opening", "transfer", "validator", "push", "push_dropped", "push_seen",
    ]
    let key = AppTable.key
    let tasks = "DELETE FROM task WHERE refresh IN (SELECT id FROM refresh WHERE app = \(key))"
    let all = [tasks] + tables.map { "DELETE FROM \($0) WHERE app = \(key)" } + ["DELETE FROM app WHERE id = ?"]
    deletes = try all.map { sql throws(StoreError) in try Statement(sql, on: database, to: .save) }
  }

  func remove(_ app: AppID) throws(StoreError) {
    for delete in deletes { try delete.run(.text(app.description)) }
  }
}

extension Loaded {
  /// Removes the apps that have been out of the configuration for 90 days, and are not in the new one.
  mutating func removeOutdated(configured: Set<AppID>?, at now: Instant) -> Set<AppID> {
    guard let configured else { return [] }
    let inUse = Set(transfers.values.map(\.state.policy.app)).union(configured)
    let outdated = states.filter { id, state in !inUse.contains(id) && state.isOutdated(at: now) }
    for app in outdated.keys { (states[app], pushes[app]) = (nil, nil) }
    return Set(outdated.keys)
  }
}
