import Glibc

/// The lock of a state directory: two daemons on one store would refresh every app twice.
///
/// It is a lock of flock(2), which ends with the process.
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
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw ServiceError(
        .temporary,
        "cannot use the state directory \(directory): another refreshd is at work on it; stop that one first")
    }
  }

  private static var reason: String { String(cString: strerror(errno)) }
}
