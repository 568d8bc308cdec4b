import Glibc
import RefreshAPI

/// The lock of a state directory: two daemons on one store would refresh every app twice.
///
/// It is a record lock of fcntl(2), which ends with the process and which no child inherits. With a lock of flock(2), a
/// child that has not yet called execve(2) would keep a daemon from starting after its predecessor was killed.
enum StateLock {
  /// Makes the directory for its owner only if it is missing, and holds the lock for the life of the process.
  static func hold(in directory: String) throws(ServiceError) {
    try Directory(path: directory, purpose: "state directory", option: "--state DIR").make(mode: 0o700)
    let descriptor = Glibc.open("\(directory)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ServiceError(
        .cannotCreate, "cannot write in the state directory \(directory): \(Self.reason); give another with --state DIR"
      )
    }
    var record = Glibc.flock()
    record.l_type = Int16(F_WRLCK)
    record.l_whence = Int16(SEEK_SET)
    guard fcntl(descriptor, F_SETLK, &record) == 0 else {
      close(descriptor)
      throw ServiceError(
        .temporary,
        "cannot use the state directory \(directory): another refreshd is at work on it; stop that one first")
    }
  }

  private static var reason: String { String(cString: strerror(errno)) }
}
