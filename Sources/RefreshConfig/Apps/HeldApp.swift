import RefreshEngine

extension AppConfiguration {
  /// An app whose file has mistakes: it has no command, and is held until they are corrected.
  ///
  /// The readable settings stay, so that the app's state is judged as before.
  static func held(
    _ id: AppID, _ file: ConfigurationFile, _ problems: [Problem], name: String?, owner: Owner, _ settings: Policy,
    in load: LoadContext
  ) -> AppConfiguration {
    var policy = settings
    policy.tasks = []
    policy.owner = owner.uid
    let more = problems.count > 1 ? " (and \(problems.count - 1) more, which refreshctl check lists)" : ""
    policy.unusable = "\(ConfigurationError(problems).problems.first?.description ?? file.path)\(more)"
    let settings = AppConfiguration.Settings(
      owner: owner, policy: policy, folder: load.interner.intern(file.folder))
    return AppConfiguration(id, file.names(of: id, given: name), Boxed(settings))
  }

  /// An app whose file is unreadable, so that only the id in its name is known.
  static func unusable(
    _ id: AppID, _ file: ConfigurationFile, _ problem: Problem, in load: LoadContext
  ) -> AppConfiguration {
    held(id, file, [problem], name: nil, owner: .unknown, load.defaults.policy, in: load)
  }
}

extension Owner {
  /// The owner of an app whose file names no owner: a number that no user has.
  ///
  /// No command of such an app can run as root by mistake, and no user may speak for it.
  static let unknown = Owner(uid: .max - 1, gid: .max - 1, name: "unknown", home: "/")
}

extension ConfigurationFile {
  /// The id in the file's name, by custom `ID.toml`; nil if the name has another form.
  var idOfName: AppID? { AppID(String(name.dropLast(".toml".count))) }

  /// The names for an app of this file, with or without `name` in the file.
  func names(of id: AppID, given: String?) -> AppConfiguration.Names {
    .init(ofApp: given, ofFile: name == "\(id).toml" ? nil : name)
  }
}
