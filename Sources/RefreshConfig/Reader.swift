@preconcurrency import Glibc

/// Who reads a configuration, which decides whose apps it may have.
public struct Reader: Sendable {
  /// The user that the daemon runs as.
  public let uid: UInt32
  /// Whether it is a user's daemon (`--user`), whose apps are all that user's.
  public let isUserDaemon: Bool
  /// Whether there is a program at an absolute path.
  let isProgram: @Sendable (String) -> Bool
  /// The directories that the daemon has for itself alone.
  let privateFolders: [String]
  /// Where the program of the built-in kinds may be, the best place first.
  let workers: [String]

  /// Describes the daemon that the configuration is for.
  ///
  /// - Parameters:
  ///   - uid: the user that it runs as, by default this process's.
  ///   - isProgram: tells whether a path is that of a program, by default an executable file. Examples can be checked
  ///     with it on a machine that does not have their programs.
  ///   - privateFolders: the directories in which the daemon does not see what tasks write.
  ///   - workers: where `refresh-worker` may be, the best place first.
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

  /// Whether commands can run as other users and groups than the daemon's.
  var canChangeUser: Bool { uid == 0 && !isUserDaemon }

  /// Whether there is a file at the path that this process may execute; for root, that anybody may.
  ///
  /// Without CAP_DAC_OVERRIDE, root may not execute what is its owner's alone; but the task runs as the owner.
  @Sendable public static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return geteuid() == 0 ? status.st_mode & 0o111 != 0 : access(path, X_OK) == 0
  }
}
