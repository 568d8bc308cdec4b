import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

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
