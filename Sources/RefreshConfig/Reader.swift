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
