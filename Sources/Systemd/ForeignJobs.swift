import CSystemd
import Glibc
import Synchronization

/// Executor jobs on their way from other threads to the loop's, with an eventfd(2) that wakes it.
final class ForeignJobs: Sendable {
  /// Readable while jobs wait.
  let descriptor: Int32
  private let waiting = Mutex<[UnownedJob]>([])

  init() throws(SystemdError) {
    descriptor = systemd_eventfd()
    guard descriptor >= 0 else { throw SystemdError(cannot: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// Takes a job; on any thread.
  func append(_ job: UnownedJob) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(job)
      return waiting.count == 1
    }
    // Whoever is first wakes the loop for all that follow until they are taken.
    guard isFirst else { return }
    let result = eventfd_write(descriptor, 1)
    precondition(result == 0, "cannot wake the event loop: errno \(errno)")
  }

  /// Gives all jobs, in the order in which they came, and waits for the next.
  func take() -> [UnownedJob] {
    var count: eventfd_t = 0
    // Nothing to read is fine: the jobs of two wakes may have been taken at once.
    _ = eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
