@preconcurrency import Glibc

/// Who reads a configuration, which decides whose apps it may have.
public struct Reader: Sendable {
  /// The user that the daemon runs as.
  public let uid: UInt32
  /// Whether it is a user's daemon (`--user`), whose apps are all that user's.
  public let isUserDaemon: Bool
  /// Whether there is a program at an absolute path.
  let isProgram: @Sendable (String) -> Bool

  /// Describes the daemon that the configuration is for.
  ///
  /// - Parameters:
  ///   - uid: the user that it runs as, by default this process's.
  ///   - isProgram: tells whether a path is that of a program, by default an executable file. Examples can be checked
  ///     with it on a machine that does not have their programs.
  public init(
    uid: UInt32 = geteuid(), isUserDaemon: Bool = false,
    isProgram: @escaping @Sendable (String) -> Bool = Reader.isExecutableFile
  ) {
    self.uid = uid
    self.isUserDaemon = isUserDaemon
    self.isProgram = isProgram
  }

  /// Whether commands can run as other users and groups than the daemon's.
  var canChangeUser: Bool { uid == 0 && !isUserDaemon }

  /// Whether there is a file at the path that this process may execute.
  @Sendable public static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
  }
}
