import RefreshEngine

/// An unreadable file of `apps.d` whose app is unknown, because neither its text nor its name tells the app.
public struct UnnamedFile: Hashable, Sendable {
  /// The settings of its app until the file can be read.
  let policy: Policy
  /// The directory of the file.
  let folder: String
  /// The name of the file.
  let name: String

  /// The path of the file.
  public var path: String { "\(folder)/\(name)" }
}

extension Configuration {
  /// This configuration with the missing apps held, if an unreadable file may belong to one of them.
  ///
  /// In that case a recently configured app was probably not removed on purpose.
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
