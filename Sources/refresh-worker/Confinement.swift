import CLinux
import Glibc

/// Drops the privileges of the process before it reads input.
enum Confinement {
  /// Drops all capabilities and forbids core dumps and tracing, for good; returns a failure if the kernel refuses.
  ///
  /// The umask stays, so that files get the mode that the owner's other programs would give them.
  static func enter() -> TaskFailure? {
    guard linux_give_up_privileges() == 0, linux_keep_memory_private() == 0 else {
      return TaskFailure(.failed, "cannot give up privileges: \(String(cString: strerror(errno)))")
    }
    return nil
  }
}
