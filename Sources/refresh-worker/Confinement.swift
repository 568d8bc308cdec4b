import CLinux
import Glibc
import JSON
import RefreshAPI

/// Drops the privileges of the process before it reads input, and binds it to its files.
enum Confinement {
  /// The folders of the Flatpak for which this process moves files; empty if it works for a plain app.
  ///
  /// The daemon names them before the process does anything, and no order changes them.
  static let flatpakFolders = ["REFRESH_FLATPAK_FOLDER", "REFRESH_FLATPAK_DOCUMENTS"].compactMap(variable)

  /// The files of a plain app's owner to which this process is bound; nil if the daemon names none.
  ///
  /// The system's daemon names none, because systemd gives the worker a view of the file system there.
  private static let bounds: Result<BoundFiles?, JSONError> = Result { () throws(JSONError) in
    guard let text = variable("REFRESH_BOUNDS") else { return nil }
    return BoundFiles(try Wire.WorkerBounds(jsonText: Array(text.utf8)), home: variable("HOME"))
  }

  /// Whether the process may still open the files that the daemon has named.
  static var isInPlace: Bool {
    guard Landlock.isAvailable, case .success(let files?) = bounds else { return true }
    return files.areInPlace
  }

  /// Drops all capabilities and forbids core dumps and tracing, for good; returns a failure if the kernel refuses.
  ///
  /// The umask stays, so that files get the mode that the owner's other programs would give them.
  static func enter() -> TaskFailure? {
    guard linux_give_up_privileges() == 0, linux_keep_memory_private() == 0 else {
      return TaskFailure(.failed, "cannot give up privileges: \(String(cString: strerror(errno)))")
    }
    guard flatpakFolders.isEmpty else { return Landlock.bind(toWriting: flatpakFolders, reading: systemFiles) }
    switch bounds {
    case .success(nil): return nil
    case .success(let files?):
      return Landlock.bind(toWriting: files.written.map { [$0] } ?? [], reading: systemFiles + files.read)
    case .failure(let error): return TaskFailure(.failed, "cannot read REFRESH_BOUNDS: \(error)")
    }
  }

  /// The files that a transfer reads besides its own: the trusted roots of TLS, the settings of the resolver, libraries.
  ///
  /// Whole folders, because programs replace such files by a rename while the worker lives.
  private static var systemFiles: [String] {
    let named = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "OPENSSL_CONF", "HOSTALIASES"].compactMap(variable)
    let folders = variable("SSL_CERT_DIR")?.split(separator: ":").map(String.init) ?? []
    return named + folders + resolver + [
      "/etc", "/usr", "/lib", "/lib64", "/dev/null", "/dev/urandom", "/proc/sys", "/run/systemd/resolve",
      "/run/NetworkManager", "/run/resolvconf", "/var/lib/sss", "/var/lib/libvirt/dnsmasq",
    ]
  }

  /// The folder to which a link `/etc/resolv.conf` leads, whatever program of this machine writes it.
  private static var resolver: [String] {
    guard let path = realpath("/etc/resolv.conf", nil) else { return [] }
    defer { free(path) }
    let folder = String(cString: path).split(separator: "/").dropLast()
    return folder.isEmpty ? [] : ["/" + folder.joined(separator: "/")]
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
