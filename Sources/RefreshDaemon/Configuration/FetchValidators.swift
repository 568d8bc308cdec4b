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
    for (app, urls) in remembered {
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
      switch command.builtIn {
      case .http(let fetch):
        return Array(try Wire.FetchOrder(fetch, remembered[app]?[fetch.file.url]).jsonText(.line).utf8)
      case .transfer(let download): return Array(try Wire.Request(download).jsonText(.line).utf8)
      case nil: return nil
      }
    } catch {
      // Texts and numbers can always be written; the worker reports a missing order.
      return []
    }
  }
}

extension Wire.FetchOrder {
  fileprivate init(_ fetch: Fetch, _ known: Validator?) {
    self.init(
      url: fetch.file.url, to: fetch.file.target, headersFile: fetch.file.headersFile,
      credentialFile: fetch.file.credentialFile, netrc: fetch.file.usesNetrc, mostBytes: fetch.mostBytes,
      remembered: known.map { Remembered(etag: $0.etag, lastModified: $0.lastModified, digest: $0.digest) })
  }
}

extension Wire.Request {
  fileprivate init(_ download: Download) {
    let (file, wishes) = (download.file, download.wishes)
    self.init(
      url: file.url, path: file.target, session: wishes.session, description: wishes.description,
      sha256: wishes.sha256, network: wishes.network.map(Wire.NetworkConstraint.init),
      priority: wishes.priority.map(Int64.init), maxRate: wishes.maxRate, headersFile: file.headersFile,
      credentialFile: file.credentialFile, netrc: file.usesNetrc ? true : nil, notify: wishes.notify)
  }
}
