import RefreshEngine
import RefreshStore

/// The last refresh of each app, in memory, so that no answer waits for a disk.
final class LastRefreshes {
  /// The refreshes in the order of the ids: a dictionary would take as much memory again, a box for each a fifth more.
  private var refreshes: [(app: AppID, last: StoredRefresh)] = []
  /// The answers that wait for ``load(_:of:)``; nil after it.
  private var early: [() -> Void]? = []

  /// The last ended refresh of an app.
  subscript(app: AppID) -> StoredRefresh? {
    let index = index(of: app)
    return index < refreshes.count && refreshes[index].app == app ? refreshes[index].last : nil
  }

  /// Notes an ended refresh.
  func note(_ refresh: StoredRefresh, of app: AppID) {
    let index = index(of: app)
    if index < refreshes.count, refreshes[index].app == app {
      refreshes[index].last = refresh
    } else {
      refreshes.insert((app, refresh), at: index)
    }
  }

  /// Takes over the ids of a new configuration, so that their texts are in memory once.
  func share(_ ids: [AppID]) {
    for id in ids where self[id] != nil { refreshes[index(of: id)].app = id }
  }

  /// Forgets the last refresh of an app.
  func forget(_ app: AppID) {
    if self[app] != nil { refreshes.remove(at: index(of: app)) }
  }

  /// The index of an app, or its place if it has none.
  private func index(of app: AppID) -> Int { refreshes.partitioningIndex { $0.app >= app } }

  /// Answers once the last refreshes are known, a moment after the start.
  func onceLoaded(_ answer: @escaping () -> Void) {
    if early == nil { answer() } else { early?.append(answer) }
  }

  /// Adds these apps' refreshes from the store, unless newer ones are known, and gives the waiting answers.
  ///
  /// Each refresh is copied: the store's values lie between unneeded blocks of memory, and would keep them from being given
  /// back. The id is the configuration's, so that its text is in memory once.
  func load(_ stored: [AppID: StoredRefresh], of apps: [AppID]) {
    refreshes.reserveCapacity(apps.count)
    for app in apps where self[app] == nil {
      guard var refresh = stored[app] else { continue }
      refresh.tasks = refresh.tasks.map { task in
        var task = task
        task.name = String(decoding: Array(task.name.utf8), as: UTF8.self)
        task.message = String(decoding: Array(task.message.utf8), as: UTF8.self)
        return task
      }
      note(refresh, of: app)
    }
    let answers = early ?? []
    early = nil
    for answer in answers { answer() }
  }
}
