import CSystemd
import Glibc
import Synchronization

/// Executor jobs from other threads, with an eventfd(2) that wakes the loop.
final class ForeignJobs: Sendable {
  /// Readable while jobs wait.
  let descriptor: Int32
  private let waiting = Mutex<[UnownedJob]>([])

  init() throws(SystemdError) {
    descriptor = systemd_eventfd()
    guard descriptor >= 0 else { throw SystemdError(cannot: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// Adds a job; callable on any thread.
  func append(_ job: UnownedJob) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(job)
      return waiting.count == 1
    }
    // Only the first job wakes the loop, which then collects all jobs.
    guard isFirst else { return }
    let result = eventfd_write(descriptor, 1)
    precondition(result == 0, "cannot wake the event loop: errno \(errno)")
  }

  /// Returns all jobs in their order, and waits for the next.
  func drain() -> [UnownedJob] {
    var count: eventfd_t = 0
    // The counter may be 0: the last call may have collected the jobs of two wakes.
    _ = eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
