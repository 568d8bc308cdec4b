import CLinux
import Glibc

/// Drops the privileges of the process before it reads input, and binds it to its files.
enum Confinement {
  /// The folders of the Flatpak for which this process moves files; empty if it works for a plain app.
  ///
  /// The daemon names them before the process does anything, and no order changes them.
  static let flatpakFolders = ["REFRESH_FLATPAK_FOLDER", "REFRESH_FLATPAK_DOCUMENTS"].compactMap(variable)

  /// Drops all capabilities and forbids core dumps and tracing, for good; returns a failure if the kernel refuses.
  ///
  /// The umask stays, so that files get the mode that the owner's other programs would give them.
  static func enter() -> TaskFailure? {
    guard linux_give_up_privileges() == 0, linux_keep_memory_private() == 0 else {
      return TaskFailure(.failed, "cannot give up privileges: \(String(cString: strerror(errno)))")
    }
    return flatpakFolders.isEmpty ? nil : Landlock.bind(toWriting: flatpakFolders, reading: systemFiles)
  }

  /// The files that a transfer reads besides its own: the trusted roots of TLS, the settings of the resolver, libraries.
  ///
  /// Whole folders, because programs replace such files by a rename while the worker lives.
  private static var systemFiles: [String] {
    let named = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap(variable)
    return named + [
      "/etc", "/usr", "/lib", "/lib64", "/dev/null", "/dev/urandom", "/proc/sys/kernel", "/run/systemd/resolve",
      "/run/NetworkManager", "/run/resolvconf",
    ]
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
