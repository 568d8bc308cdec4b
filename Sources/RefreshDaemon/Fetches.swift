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
      guard let file = command.builtIn?.file else { return nil }
      switch command.builtIn?.work {
      case .fetch(let mostBytes):
        return try Wire.FetchOrder(file, mostBytes: mostBytes, fetches[app, file.url]).jsonBytes()
      case .download(let task): return try Wire.Request(file, task).jsonBytes()
      case nil: return nil
      }
    } catch {
      // Texts and numbers always can be written; the worker says that there is no order.
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
