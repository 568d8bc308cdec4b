import RefreshEngine
import RefreshStore

/// How each app was last refreshed, for whoever asks: kept in memory, so that no answer waits for a disk.
struct LastRefreshes {
  /// A box, because the free places of a dictionary are as large as its values.
  private final class Box: Sendable {
    let refresh: StoredRefresh

    init(_ refresh: StoredRefresh) { self.refresh = refresh }
  }

  private var boxes: [AppID: Box] = [:]

  /// The last refresh of an app that has ended.
  subscript(app: AppID) -> StoredRefresh? { boxes[app]?.refresh }

  /// Takes note of a refresh that has ended.
  mutating func note(_ refresh: StoredRefresh) {
    boxes[refresh.app] = Box(refresh)
  }

  /// Takes up what the store has of these apps, where nothing newer is known.
  ///
  /// A copy of its own of each: what the store has made lies among what its reading took, and would keep all of that from
  /// being given back. The id is the configuration's, as one text of it is enough.
  mutating func load(_ stored: [AppID: StoredRefresh], of apps: [AppID]) {
    boxes.reserveCapacity(apps.count)
    for app in apps where boxes[app] == nil {
      guard var refresh = stored[app] else { continue }
      refresh.app = app
      refresh.tasks = refresh.tasks.map { task in
        var task = task
        task.name = String(decoding: Array(task.name.utf8), as: UTF8.self)
        task.message = String(decoding: Array(task.message.utf8), as: UTF8.self)
        return task
      }
      boxes[app] = Box(refresh)
    }
  }
}
