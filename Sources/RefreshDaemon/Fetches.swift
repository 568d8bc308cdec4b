import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

/// What apps remember of the URLs that they fetched (FEATURES C8).
struct Fetches {
  private var remembered: [AppID: [String: Validator]]

  init(_ remembered: [AppID: [String: Validator]] = [:]) {
    self.remembered = remembered
  }

  /// What an app remembers of a URL; nil before the first answer.
  subscript(app: AppID, url: String) -> Validator? {
    get { remembered[app]?[url] }
    set {
      remembered[app, default: [:]][url] = newValue
      if remembered[app]?.isEmpty == true { remembered[app] = nil }
    }
  }

  /// All of it, to be saved anew.
  var all: [AppID: [String: Validator?]] { remembered.mapValues { urls in urls.mapValues { .some($0) } } }

  /// Forgets the URLs that no file names any more, and gives them back.
  mutating func forgetAll(but configuration: InForce) -> [(app: AppID, url: String)] {
    var forgotten: [(app: AppID, url: String)] = []
    for (app, urls) in remembered {
      let named = Set(configuration[app]?.commands.compactMap(\.fetch?.file.url) ?? [])
      forgotten += urls.keys.filter { !named.contains($0) }.map { (app, $0) }
    }
    for (app, url) in forgotten { self[app, url] = nil }
    return forgotten
  }
}

extension Daemon {
  /// Takes note of an answer, or forgets the URL, with the next commit.
  func remember(_ validator: Validator?, of app: AppID, _ url: String) {
    fetches[app, url] = validator
    pending.validators[app, default: [:]].updateValue(validator, forKey: url)
  }

  /// Forgets the URLs that no file names any more.
  func forgetOldFetches() {
    for (app, url) in fetches.forgetAll(but: configuration) { remember(nil, of: app, url) }
    if !pending.isEmpty { commitSoon() }
  }

  /// The order that a task of a built-in kind reads on standard input.
  func order(of command: Command, _ app: AppID) -> [UInt8]? {
    do {
      switch command.builtIn {
      case .http(let fetch):
        return try Wire.FetchOrder(fetch, fetches[app, fetch.file.url]).jsonBytes()
      case .transfer(let download): return try Wire.Request(download).jsonBytes()
      case nil: return nil
      }
    } catch {
      // Texts and numbers always can be written; the worker says that there is no order.
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
