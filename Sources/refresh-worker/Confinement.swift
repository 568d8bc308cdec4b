import CLinux
import Glibc

/// What the process gives up before it looks at anything that came from elsewhere.
enum Confinement {
  /// Gives up all privileges and keeps the memory private, for ever; answers what could not be given up.
  ///
  /// The umask stays: files get the mode that the owner's own programs would give them.
  static func enter() -> Trouble? {
    guard linux_give_up_privileges() == 0, linux_keep_memory_private() == 0 else {
      return Trouble(.failed, "cannot give up privileges: \(String(cString: strerror(errno)))")
    }
    return nil
  }
}
