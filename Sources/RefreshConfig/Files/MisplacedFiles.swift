@preconcurrency import Glibc

/// Warns of files that nothing reads, although their names look like configuration.
enum MisplacedFiles {
  /// The warnings about the files of all directories.
  ///
  /// They are no mistakes, because another program may keep its own files there.
  static func warnings(in sources: ConfigurationSources) -> [Problem] {
    sources.directories.flatMap { directory in
      let apps = "\(directory)/apps.d"
      return warnings(in: directory) { name in
        let lower = name.lowercased()
        if ConfigurationSources.mainNames.contains(lower) {
          return name == lower ? nil : misspelt(lower, in: directory)
        }
        return Unreadable(
          "the file is not read: apps have theirs in apps.d", remedy: "move it to \(apps), or remove it")
      }
        + warnings(in: apps) { name in
          name.hasSuffix(".toml") ? nil : misspelt("\(name.dropLast(".toml".count)).toml", in: apps)
        }
    }
  }

  /// The warning about a file that should have the name `name`.
  private static func misspelt(_ name: String, in folder: String) -> Unreadable {
    var status = stat()
    let isTaken = lstat("\(folder)/\(name)", &status) == 0
    return Unreadable(
      "the file is not read: its name has letters in upper case",
      remedy: isTaken ? "remove it; there is a \(name)" : "rename it to \(name), or remove it")
  }

  private static func warnings(in folder: String, _ judge: (String) -> Unreadable?) -> [Problem] {
    (ConfigurationSources.names(in: folder) ?? [])
      .filter { $0.lowercased().hasSuffix(".toml") && !isFolder("\(folder)/\($0)") }.sorted().compactMap { name in
        judge(name).map {
          Problem(file: "\(folder)/\(name)", message: $0.message, remedy: $0.remedy, isWarning: true)
        }
      }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
