@preconcurrency import Glibc

/// The directories of a configuration, each with `refreshd.toml` and `apps.d/*.toml`.
///
/// A file in a later directory masks the file of the same name in an earlier one, and an empty file or a link to
/// `/dev/null` masks it without taking its place, as `systemd.unit(5)` has it.
public struct ConfigurationSources: Hashable, Sendable {
  /// The directories, the weakest first.
  public let directories: [String]
  /// Whether it is a mistake that a directory is not there.
  let mustExist: Bool

  private init(directories: [String], mustExist: Bool = false) {
    self.directories = directories
    self.mustExist = mustExist
  }

  /// The system's daemon: the vendor's files, then those of this boot, then the administrator's.
  public static let system = ConfigurationSources(directories: ["/usr/lib/refreshd", "/run/refreshd", "/etc/refreshd"])

  /// Exactly one directory, which must be there (`--config DIR`).
  public static func directory(_ path: String) -> ConfigurationSources {
    ConfigurationSources(directories: [path], mustExist: true)
  }

  /// A user's daemon: below the XDG directories, in the order that `systemd.unit(5)` gives user units.
  ///
  /// `$XDG_DATA_DIRS`, then `$XDG_RUNTIME_DIR`, then `$XDG_CONFIG_HOME`, which is the strongest. As the XDG Base
  /// Directory Specification says, a variable that is not set has its default and a path that is not absolute is
  /// ignored.
  ///
  /// - Parameters:
  ///   - home: the user's home directory.
  ///   - environment: looks up a variable, by default in the environment of this process.
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
