import CLinux
import Glibc
import Synchronization
import Threads

/// The thread of a client: waits in poll(2) for the daemon and executes the client's actor.
///
/// Messages are handled in the order in which they arrive, without a hop and without a lock. The thread runs until
/// ``end()``. Only ``enqueue(_:)`` and ``end()`` may be called on other threads.
final class PollLoop: SerialExecutor, @unchecked Sendable {
  // @unchecked: a lock protects `shared`, and the loop's thread owns the other variables.

  private struct Shared {
    var jobs: [UnownedJob] = []
    var isEnding = false
    var thread: pthread_t?
  }

  private let shared = Mutex(Shared())
  /// An eventfd(2) that is readable when `shared` has something new.
  private let bell: Int32
  private var handlers: [Int32: () -> Void] = [:]

  /// When `onAlarm` is called next; nil for never.
  var alarm: ContinuousClock.Instant?
  var onAlarm: () -> Void = {}

  /// Starts the thread.
  ///
  /// Throws `noResources` when the process has no descriptor or no thread left.
  init() throws(RefreshError) {
    bell = linux_eventfd()
    guard bell >= 0 else { throw Self.cannotWait(errno, "close files, or raise RLIMIT_NOFILE") }
    let code = DetachedThread.begin { [self] in run() }
    guard code == 0 else { throw Self.cannotWait(code, "end threads, or raise RLIMIT_NPROC") }
  }

  deinit { close(bell) }

  private static func cannotWait(_ code: Int32, _ remedy: String) -> RefreshError {
    RefreshError(.noResources, "cannot wait for refreshd: \(String(cString: strerror(code))); \(remedy)")
  }

  /// Ends the thread after the current turn; callable on any thread.
  func end() {
    shared.withLock { $0.isEnding = true }
    ring()
  }

  // MARK: Descriptors

  /// Calls `handler` whenever `descriptor` is readable or at its end; the caller still owns `descriptor`.
  func watch(_ descriptor: Int32, handler: @escaping () -> Void) { handlers[descriptor] = handler }

  /// Stops watching; call this before the descriptor is closed.
  func forget(_ descriptor: Int32) { handlers[descriptor] = nil }

  // MARK: Executor

  /// Queues a job of the actor; callable on any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustRing = shared.withLock { shared in
      shared.jobs.append(job)
      // The loop checks for jobs of its own thread before it waits.
      return shared.jobs.count == 1 && shared.thread.map { pthread_equal($0, pthread_self()) == 0 } != false
    }
    if mustRing { ring() }
  }

  /// Whether the caller is on the loop's thread (SE-0471).
  func isIsolatingCurrentContext() -> Bool? {
    shared.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Stops the process unless the caller is on the loop's thread (SE-0424).
  func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "a client of refreshd is entered on its own thread only")
  }

  // MARK: Turning

  private func run() {
    shared.withLock { $0.thread = pthread_self() }
    while runJobs() { wait() }
  }

  /// Returns false when the loop has ended and no job is left.
  private func runJobs() -> Bool {
    while true {
      let (jobs, isEnding) = shared.withLock { shared in
        let drained = (shared.jobs, shared.isEnding)
        shared.jobs = []
        return drained
      }
      guard !jobs.isEmpty else { return !isEnding }
      for job in jobs { job.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }

  private func wait() {
    var set = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
    set += handlers.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    guard poll(&set, nfds_t(set.count), timeout()) >= 0 else { return }
    if set[0].revents != 0 {
      var count: eventfd_t = 0
      eventfd_read(bell, &count)
    }
    // An earlier handler may have stopped the watch of this descriptor.
    for entry in set.dropFirst() where entry.revents != 0 { handlers[entry.fd]?() }
    if let alarm, alarm <= .now {
      self.alarm = nil
      onAlarm()
    }
  }

  /// The milliseconds until the alarm, rounded up so that the loop never wakes too early; -1 for no alarm.
  private func timeout() -> Int32 {
    guard let alarm else { return -1 }
    let left = ContinuousClock.now.duration(to: alarm).microseconds
    return Int32(clamping: max(0, left + 999) / 1000)
  }

  private func ring() { eventfd_write(bell, 1) }
}
