/// Warnings about files that nothing reads, although their names say that they are configuration.
enum MisplacedFiles {
  /// The warnings about the files of all directories.
  ///
  /// They are no mistakes of a configuration, because another program may keep its own files there.
  static func warnings(in sources: ConfigurationSources) -> [Problem] {
    sources.directories.flatMap { directory in
      warnings(in: directory) { name in
        guard !ConfigurationSources.mainNames.contains(name) else { return nil }
        return Unreadable(
          "the file is not read: apps have theirs in apps.d", remedy: "move it to \(directory)/apps.d, or remove it")
      }
        + warnings(in: "\(directory)/apps.d") { name in
          guard !name.hasSuffix(".toml") else { return nil }
          return Unreadable(
            #"the file is not read: its name does not end with ".toml" in lower case"#,
            remedy: "rename it to \(name.dropLast(".toml".count)).toml, or remove it")
        }
    }
  }

  private static func warnings(in folder: String, _ judge: (String) -> Unreadable?) -> [Problem] {
    (ConfigurationSources.names(in: folder) ?? [])
      .filter { $0.lowercased().hasSuffix(".toml") }.sorted().compactMap { name in
        judge(name).map {
          Problem(file: "\(folder)/\(name)", message: $0.message, remedy: $0.remedy, isWarning: true)
        }
      }
  }
}
