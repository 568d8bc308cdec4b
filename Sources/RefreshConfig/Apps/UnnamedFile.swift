import RefreshEngine

/// A file of `apps.d` that cannot be read, and of which neither text nor name says which app it is of.
public struct UnnamedFile: Hashable, Sendable {
  /// The settings that an app of it has until it can be read.
  let policy: Policy
  /// The directory of the file.
  let folder: String
  /// The name of the file.
  let name: String

  /// The path of the file.
  public var path: String { "\(folder)/\(name)" }
}

extension Configuration {
  /// This configuration with the apps held that are missing, where a file cannot be read that may be theirs.
  ///
  /// An app that was configured a moment ago has not been taken out on purpose then.
  public func keeping(_ known: some Sequence<AppID>) -> Configuration {
    guard let file = unnamed.first else { return self }
    let present = Set(apps.map(\.id))
    let settings = Boxed(AppConfiguration.Settings(owner: .unknown, policy: file.policy, folder: file.folder))
    let missing = known.filter { !present.contains($0) }.map { id in
      AppConfiguration(id, AppConfiguration.Names(ofApp: nil, ofFile: file.name), settings)
    }
    var whole = self
    whole.apps = (apps + missing).sorted { $0.id < $1.id }
    return whole
  }
}
