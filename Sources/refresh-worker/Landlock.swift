import CLinux
import Glibc

/// The kernel's bound on the files of this process (landlock(7)), which needs no privilege.
enum Landlock {
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
