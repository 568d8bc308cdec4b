import Glibc

/// `refresh-worker transfer`: the ``TransferWorker`` as a process.
enum TransferTask {
  /// Runs the worker and returns the exit code.
  static func run() -> Int32 {
    if let failure = Confinement.enter() {
      logError(failure.message)
      return EX_OSERR
    }
    guard let socket = getenv("REFRESH_SOCKET"), let token = getenv("REFRESH_TOKEN") else {
      logError("cannot work: REFRESH_SOCKET and REFRESH_TOKEN are not set; refreshd sets them")
      return EX_USAGE
    }
    do {
      try TransferWorker(socket: String(cString: socket), token: String(cString: token)).run()
      return EX_OK
    } catch {
      logError("\(error)")
      return EX_TEMPFAIL
    }
  }
}
