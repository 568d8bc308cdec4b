import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

/// The validators of the URLs that apps have fetched, such as ETags, for the next fetch of each.
final class FetchValidators: SavedRoom {
  private var remembered: [AppID: [String: Validator]]
  /// The validators to be saved; nil for a URL to be forgotten.
  private var changed: [AppID: [String: Validator?]] = [:]

  init(_ remembered: [AppID: [String: Validator]]) { self.remembered = remembered }

  /// Keeps a validator, or forgets the URL, with the next commit.
  func remember(_ validator: Validator?, of app: AppID, _ url: String) {
    remembered[app, default: [:]][url] = validator
    if remembered[app]?.isEmpty == true { remembered[app] = nil }
    changed[app, default: [:]].updateValue(validator, forKey: url)
  }

  /// Forgets the URLs that no app's file names any more.
  func forgetAll(except configuration: ConfigurationInForce) {
    // The URLs of a held app are not known; what is known of them is for its return.
    for (app, urls) in remembered where configuration[app]?.policy.unusable == nil {
      let named = Set(configuration[app]?.commands.compactMap(\.fetch?.file.url) ?? [])
      for url in urls.keys where !named.contains(url) { remember(nil, of: app, url) }
    }
  }

  var hasChanges: Bool { !changed.isEmpty }

  func moveChanges(into batch: inout Batch) {
    batch.validators = changed
    changed = [:]
  }

  func markAllChanged() { changed = remembered.mapValues { urls in urls.mapValues { .some($0) } } }

  /// The order that a task of a built-in kind reads on standard input.
  func order(of command: Command, _ app: AppID) -> [UInt8]? {
    do {
      guard let file = command.builtIn?.file else { return nil }
      switch command.builtIn?.work {
      case .fetch(let mostBytes):
        return try Wire.FetchOrder(file, mostBytes: mostBytes, remembered[app]?[file.url]).jsonBytes()
      case .download(let task): return try Wire.Request(file, task).jsonBytes()
      case nil: return nil
      }
    } catch {
      // Texts and numbers can always be written; the worker reports a missing order.
      return []
    }
  }
}

extension Wire.FetchOrder {
  fileprivate init(_ file: RemoteFile, mostBytes: Int64, _ known: Validator?) {
    self.init(
      url: file.url, to: file.target, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc, mostBytes: mostBytes,
      remembered: known.map { Remembered(etag: $0.etag, lastModified: $0.lastModified, digest: $0.digest) })
  }
}

extension Wire.Request {
  fileprivate init(_ file: RemoteFile, _ task: DownloadTask) {
    self.init(
      url: file.url, path: file.target, session: task.session, description: task.description,
      sha256: task.sha256, network: task.network.map(Wire.NetworkConstraint.init),
      priority: task.priority.map(Int64.init), maxRate: task.maxRate, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc ? true : nil, notify: task.notify)
  }
}
