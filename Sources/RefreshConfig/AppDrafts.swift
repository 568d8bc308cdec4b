extension Configuration {
  /// The mistakes and warnings that a file of `apps.d` would add to a configuration; writes nothing.
  ///
  /// The file is read with the limits and defaults in force and beside the other apps, whose ids it must not have.
  ///
  /// `name` ends in `.toml`. The file takes the place of an existing file of this name.
  public static func problems(
    addedBy text: String, named name: String, to sources: ConfigurationSources, as reader: Reader
  ) -> [Problem] {
    guard let folder = sources.appsFolder else { return [] }
    let file = ConfigurationFile(folder: folder, name: name, draft: text)
    var drafted = sources
    drafted.draft = file
    let before = Set(problems(in: sources, as: reader).filter { $0.file != file.path })
    return problems(in: drafted, as: reader).filter { !before.contains($0) }
  }
}

extension ConfigurationSources {
  /// The `apps.d` of the strongest directory, for a person's own files; nil without directories.
  public var appsFolder: String? { directories.last.map { "\($0)/apps.d" } }

  /// The path of the file of `apps.d` in force with a name; nil for none.
  public func appFile(named name: String) -> String? {
    var problems: [Problem] = []
    return appFiles(&problems).first { $0.name == name }?.path
  }
}
