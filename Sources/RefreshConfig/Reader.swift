@preconcurrency import Glibc

/// The daemon that reads a configuration; its user decides which owners apps may have.
public struct Reader: Sendable {
  /// The user that the daemon runs as.
  public let uid: UInt32
  /// Whether the reader is a user's daemon (`--user`), which runs only that user's apps.
  public let isUserDaemon: Bool
  /// Whether an absolute path leads to a program.
  let isProgram: @Sendable (String) -> Bool
  /// The directories that only the daemon can see.
  let privateFolders: [String]
  /// The paths where `refresh-worker` may be, in the order of preference.
  let workers: [String]

  /// Describes the daemon for which the configuration is read.
  ///
  /// - Parameters:
  ///   - uid: the user that the daemon runs as, by default this process's.
  ///   - isUserDaemon: whether it is a user's daemon (`--user`), which runs only that user's apps.
  ///   - isProgram: whether a path leads to a program; by default whether it is an executable file. A test can replace
  ///     it to check examples whose programs are not installed.
  ///   - privateFolders: the directories that only the daemon can see.
  ///   - workers: the paths where `refresh-worker` may be, in the order of preference.
  public init(
    uid: UInt32 = geteuid(), isUserDaemon: Bool = false,
    isProgram: @escaping @Sendable (String) -> Bool = Reader.isExecutableFile,
    privateFolders: [String] = Reader.privateFolders(), workers: [String] = Reader.workers()
  ) {
    self.uid = uid
    self.isUserDaemon = isUserDaemon
    self.isProgram = isProgram
    self.privateFolders = privateFolders
    self.workers = workers
  }

  /// Whether commands can run as users and groups other than the daemon's.
  var canChangeUser: Bool { uid == 0 && !isUserDaemon }

  /// Whether the path leads to a file that this process may execute.
  ///
  /// For root, any execute bit counts. Root without CAP_DAC_OVERRIDE may not execute a file that only its owner may, but
  /// the task runs as the owner.
  @Sendable public static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return geteuid() == 0 ? status.st_mode & 0o111 != 0 : access(path, X_OK) == 0
  }
}

/// The path of `refresh-worker`, the program of the built-in kinds.
extension Reader {
  /// The absolute path of `refresh-worker`; nil if it is not installed.
  public var worker: String? { workers.first(where: isProgram) }

  /// The possible paths of `refresh-worker`: next to this program, as in a build, or at the place of `make install`.
  public static func workers() -> [String] {
    var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    guard count > 0 else { return [] }
    return workers(besides: String(decoding: buffer[..<count], as: UTF8.self))
  }

  /// The paths for a program at the given path.
  static func workers(besides program: String) -> [String] {
    let folder = program.prefix(upTo: program.lastIndex(of: "/") ?? program.startIndex)
    let prefix = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
    return ["\(folder)/refresh-worker", "\(prefix)/libexec/refreshd/refresh-worker"]
  }
}

extension Reader {
  /// The directories of temporary files that are private to this process, because its unit has `PrivateTmp=`
  /// (systemd.exec(5)).
  ///
  /// The daemon cannot see the files that tasks write there.
  public static func privateFolders() -> [String] {
    guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var folders: [String] = []
    while getline(&line, &capacity, file) > 0, let line {
      if let folder = privateFolder(inMount: String(cString: line)) { folders.append(folder) }
    }
    return folders
  }

  /// Reads a line of proc_pid_mountinfo(5).
  ///
  /// The fourth field is the mounted directory, the fifth the mount point.
  static func privateFolder(inMount line: String) -> String? {
    let fields = line.split(separator: " ")
    guard fields.count > 4, fields[4] == "/tmp" || fields[4] == "/var/tmp" else { return nil }
    return fields[3].split(separator: "/").contains { $0.hasPrefix("systemd-private-") } ? String(fields[4]) : nil
  }

  /// The reason why the daemon cannot watch a path; nil if it can.
  func refusalToWatch(_ path: String) -> Unreadable? {
    guard let folder = privateFolders.first(where: { path == $0 || path.hasPrefix("\($0)/") }) else { return nil }
    return Unreadable(
      "cannot watch \(quoted(path)): the daemon has its own \(folder)",
      remedy: "choose a path elsewhere, or set PrivateTmp=no with systemctl edit refreshd")
  }
}
