import RefreshAPI
import RefreshConfig
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

  /// Remembers an ended refresh.
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

/// The validators of the URLs that apps have fetched, such as ETags, and the last sessions of replications, for the next
/// runs.
final class FetchValidators: SavedPart {
  private var remembered: [AppID: [String: Validator]]
  /// The validators to save; nil for a URL to forget.
  private var changed: [AppID: [String: Validator?]] = [:]

  init(_ remembered: [AppID: [String: Validator]]) { self.remembered = remembered }

  /// The remembered validator of a URL.
  func validator(of app: AppID, _ url: String) -> Validator? { remembered[app]?[url] }

  /// Remembers a validator, or forgets the URL for nil; saved with the next commit.
  func remember(_ validator: Validator?, of app: AppID, _ url: String) {
    remembered[app, default: [:]][url] = validator
    if remembered[app]?.isEmpty == true { remembered[app] = nil }
    changed[app, default: [:]].updateValue(validator, forKey: url)
  }

  /// Forgets the URLs that no app's file names any more.
  func forgetAll(except configuration: ConfigurationInForce) {
    // The URLs of a held app are unknown; their validators wait for its return.
    for (app, urls) in remembered where configuration[app]?.policy.unusable == nil {
      let named = Set(configuration[app]?.commands.compactMap(\.rememberedName) ?? [])
      for url in urls.keys where !named.contains(url) { remember(nil, of: app, url) }
    }
  }

  var hasChanges: Bool { !changed.isEmpty }

  func moveChanges(into batch: inout Batch) {
    batch.validators = changed
    changed = [:]
  }

  func markAllChanged() { changed = remembered.mapValues { urls in urls.mapValues { .some($0) } } }

  /// The order that a task of a built-in kind reads on standard input; nil for any other task.
  func order(of command: Command, _ policy: TaskPolicy, _ app: AppID) -> [UInt8]? {
    command.builtIn.map {
      let validator = command.rememberedName.flatMap { remembered[app]?[$0] }
      return $0.order(policy, remembered: validator.map(Wire.FetchOrder.Remembered.init))
    }
  }
}

extension Wire.FetchOrder.Remembered {
  fileprivate init(_ known: Validator) {
    self.init(url: known.finalURL, etag: known.etag, lastModified: known.lastModified, digest: known.digest)
  }
}
