import RefreshEngine
import RefreshStore

/// The last refresh of each app, kept in memory so that no answer waits for a disk.
final class LastRefreshes {
  /// A box, because the free slots of a dictionary are as large as its values.
  private final class Box: Sendable {
    let refresh: StoredRefresh

    init(_ refresh: StoredRefresh) { self.refresh = refresh }
  }

  private var boxes: [AppID: Box] = [:]
  /// The answers that wait for ``load(_:of:)``; nil from then on.
  private var early: [() -> Void]? = []

  /// The last refresh of an app that has ended.
  subscript(app: AppID) -> StoredRefresh? { boxes[app]?.refresh }

  /// Keeps a refresh that has ended.
  func note(_ refresh: StoredRefresh, of app: AppID) {
    boxes[app] = Box(refresh)
  }

  /// Answers once the last refreshes are known, a moment after the start.
  func onceLoaded(_ answer: @escaping () -> Void) {
    if early == nil { answer() } else { early?.append(answer) }
  }

  /// Adds what the store has of these apps, where nothing newer is known, and gives the answers that waited for it.
  ///
  /// Each refresh is copied: what the store read lies among memory that is no longer needed, and would keep that memory
  /// from being given back. The id is the configuration's, so that its text is there once.
  func load(_ stored: [AppID: StoredRefresh], of apps: [AppID]) {
    boxes.reserveCapacity(apps.count)
    for app in apps where boxes[app] == nil {
      guard var refresh = stored[app] else { continue }
      refresh.tasks = refresh.tasks.map { task in
        var task = task
        task.name = String(decoding: Array(task.name.utf8), as: UTF8.self)
        task.message = String(decoding: Array(task.message.utf8), as: UTF8.self)
        return task
      }
      boxes[app] = Box(refresh)
    }
    let answers = early ?? []
    early = nil
    for answer in answers { answer() }
  }
}
