@preconcurrency import Glibc

/// The directories of a configuration, each with `refreshd.toml` and `apps.d/*.toml`.
///
/// A file in a later directory replaces the file of the same name in an earlier directory. A file without keys or a link to
/// `/dev/null` masks the earlier file. `systemd.unit(5)` has the same rules.
public struct ConfigurationSources: Hashable, Sendable {
  /// The directories, lowest precedence first.
  public let directories: [String]
  /// Whether a missing directory is a mistake.
  let mustExist: Bool
  /// A file of `apps.d` that is read as if it were in the last directory; nil for none.
  var draft: ConfigurationFile?

  private init(directories: [String], mustExist: Bool = false) {
    self.directories = directories
    self.mustExist = mustExist
  }

  /// The directories of the system's daemon: the vendor's, this boot's, the administrator's.
  public static let system = ConfigurationSources(directories: ["/usr/lib/refreshd", "/run/refreshd", "/etc/refreshd"])

  /// A single directory, which must exist (`--config DIR`).
  public static func directory(_ path: String) -> ConfigurationSources {
    ConfigurationSources(directories: [path], mustExist: true)
  }

  /// The directories that a daemon reports, lowest precedence first.
  public static func read(_ directories: [String]) -> ConfigurationSources {
    ConfigurationSources(directories: directories)
  }

  /// The directories of a user's daemon: the XDG directories, in the order of user units in `systemd.unit(5)`.
  ///
  /// The order is `$XDG_DATA_DIRS`, `$XDG_RUNTIME_DIR`, `$XDG_CONFIG_HOME`; the last has the highest precedence. By the
  /// XDG Base Directory Specification, an unset variable has its default and a relative path is ignored.
  ///
  /// - Parameters:
  ///   - home: the user's home directory.
  ///   - environment: looks up a variable, by default in the environment of this process.
  /// - Returns: the directories, lowest precedence first; a missing one is not a mistake.
  public static func user(
    home: String, environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) -> ConfigurationSources {
    func paths(_ name: String, default standard: [String]) -> [String] {
      guard let value = environment(name), !value.isEmpty else { return standard }
      return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    let directories =
      paths("XDG_DATA_DIRS", default: ["/usr/local/share", "/usr/share"]).reversed()
      + paths("XDG_RUNTIME_DIR", default: []).prefix(1)
      + paths("XDG_CONFIG_HOME", default: ["\(home)/.config"]).prefix(1)
    return ConfigurationSources(directories: directories.map { "\($0)/refreshd" })
  }
}
