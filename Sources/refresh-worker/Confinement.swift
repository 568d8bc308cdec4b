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

  /// The files of a plain app's owner to which this process is bound; nil if the daemon names no files.
  ///
  /// The system's daemon names no files, because systemd restricts the worker's view of the file system there.
  private static let bounds: Result<BoundFiles?, JSONError> = Result { () throws(JSONError) in
    guard let text = variable("REFRESH_BOUNDS") else { return nil }
    return BoundFiles(try Wire.WorkerBounds(jsonText: Array(text.utf8)), home: variable("HOME"))
  }

  /// Whether the process may still open the files that the daemon has named.
  static var isInPlace: Bool {
    guard Landlock.isAvailable, case .success(let files?) = bounds else { return true }
    return files.areInPlace
  }

  /// Permanently drops all capabilities and forbids core dumps and tracing; returns a failure if the kernel refuses.
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

  /// The folder of the file to which `/etc/resolv.conf` links, which depends on the program that writes it.
  private static var resolver: [String] {
    guard let path = realpath("/etc/resolv.conf", nil) else { return [] }
    defer { free(path) }
    let folder = String(cString: path).split(separator: "/").dropLast()
    return folder.isEmpty ? [] : ["/" + folder.joined(separator: "/")]
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}

/// The owner's files to which a worker of a user's daemon binds itself, with their identities at that time.
///
/// Landlock binds to files, not to paths. A program may replace a file with a password by a rename, and a folder may be
/// moved or mounted over; then another worker must do the work.
private struct BoundFiles {
  /// The folder that the process may write to; nil if it only reads.
  let written: String?
  /// The files and folders that it may read.
  let read: [String]
  private let found: [FileIdentity?]

  /// Looks at the files, before the process is bound to them.
  init(_ bounds: Wire.WorkerBounds, home: String?) {
    written = bounds.writes
    read = bounds.reads.map { path in
      path.utf8.starts(with: "~/".utf8) ? "\(home ?? "")/\(path.dropFirst(2))" : path
    }
    found = Self.identities(of: written, read)
  }

  /// Whether the paths lead to the same files as before.
  var areInPlace: Bool { found == Self.identities(of: written, read) }

  private static func identities(of written: String?, _ read: [String]) -> [FileIdentity?] {
    ((written.map { [$0] } ?? []) + read).map(FileIdentity.init)
  }
}

/// The file that a path leads to.
private struct FileIdentity: Hashable {
  private let device: dev_t
  private let inode: ino_t

  /// Looks at a path; nil if it leads nowhere.
  init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (device, inode) = (status.st_dev, status.st_ino)
  }
}

/// The kernel's bound on the files of this process (landlock(7)), which needs no privilege.
private enum Landlock {
  /// Whether the kernel has Landlock.
  static var isAvailable: Bool { linux_landlock_rights() != 0 }

  /// Binds the process to these files and those below, before it has a second thread; returns a failure if it cannot.
  ///
  /// A kernel without Landlock binds nothing, and `refreshctl status` says so.
  static func bind(toWriting folders: [String], reading files: [String]) -> TaskFailure? {
    let rights = linux_landlock_rights()
    guard rights != 0 else { return nil }
    let rules = linux_landlock_ruleset(rights)
    guard rules >= 0 else { return failure }
    defer { close(rules) }
    for folder in folders {
      guard allow(folder, rights & ~linux_landlock_execute, by: rules) else { return failure }
    }
    for file in files {
      guard allow(file, linux_landlock_read, by: rules) else { return failure }
    }
    return linux_landlock_enforce(rules) == 0 ? nil : failure
  }

  /// Allows access to what is at a path, if anything is.
  private static func allow(_ path: String, _ rights: UInt64, by rules: Int32) -> Bool {
    // A folder is opened for reading first, so that it is mounted now if it is mounted on demand.
    var file = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if file < 0 { file = linux_open_path(path) }
    guard file >= 0 else { return true }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { return false }
    let isFolder = status.st_mode & S_IFMT == S_IFDIR
    return linux_landlock_allow(rules, file, isFolder ? rights : rights & linux_landlock_of_file) == 0
  }

  private static var failure: TaskFailure {
    TaskFailure(.failed, "cannot bind the worker to its files by Landlock: \(String(cString: strerror(errno)))")
  }
}
