import CLinux
import Glibc
import Synchronization

/// The thread of a client: it waits in poll(2) for the daemon, and is the serial executor of the client's actor.
///
/// What comes over a socket is so handled in the order it came in, without a hop and without a lock. The thread lives
/// as long as the client, until ``end()``; everything but ``enqueue(_:)`` and ``end()`` is called on it only.
final class PollLoop: SerialExecutor, @unchecked Sendable {
  // @unchecked: `shared` is behind a lock; the other variables belong to the loop's own thread.

  private struct Shared {
    var jobs: [UnownedJob] = []
    var isEnding = false
    var thread: pthread_t?
  }

  private let shared = Mutex(Shared())
  /// Readable when `shared` has something new: eventfd(2).
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
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<PollLoop>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, retained.toOpaque())
    guard result == 0 else {
      retained.release()
      throw Self.cannotWait(result, "end threads, or raise RLIMIT_NPROC")
    }
    pthread_detach(thread)
  }

  deinit { close(bell) }

  private static func cannotWait(_ code: Int32, _ remedy: String) -> RefreshError {
    RefreshError(.noResources, "cannot wait for refreshd: \(String(cString: strerror(code))); \(remedy)")
  }

  /// Ends the thread after the turn in progress; for any thread.
  func end() {
    shared.withLock { $0.isEnding = true }
    ring()
  }

  // MARK: Descriptors

  /// Calls `handler` whenever there is something to read, or the end of it; the descriptor stays the caller's.
  func watch(_ descriptor: Int32, handler: @escaping () -> Void) { handlers[descriptor] = handler }

  /// Before the descriptor is closed.
  func forget(_ descriptor: Int32) { handlers[descriptor] = nil }

  // MARK: Executor

  /// Takes work of the actor; for any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustRing = shared.withLock { shared in
      shared.jobs.append(job)
      // The loop looks for work of its own thread before it waits.
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
    // Signals belong to the app.
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, nil)
    shared.withLock { $0.thread = pthread_self() }
    while runJobs() { wait() }
  }

  /// False when the loop has ended and no work is left.
  private func runJobs() -> Bool {
    while true {
      let (jobs, isEnding) = shared.withLock { shared in
        let taken = (shared.jobs, shared.isEnding)
        shared.jobs = []
        return taken
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
      var count: UInt64 = 0
      read(bell, &count, MemoryLayout.size(ofValue: count))
    }
    // One that was forgotten by a handler before it is not asked for any more.
    for entry in set.dropFirst() where entry.revents != 0 { handlers[entry.fd]?() }
    if let alarm, alarm <= .now {
      self.alarm = nil
      onAlarm()
    }
  }

  /// Milliseconds until the alarm, rounded up, so that it is not found ahead of its time; -1 for ever.
  private func timeout() -> Int32 {
    guard let alarm else { return -1 }
    let left = ContinuousClock.now.duration(to: alarm).microseconds
    return Int32(clamping: max(0, left + 999) / 1000)
  }

  private func ring() {
    var one: UInt64 = 1
    write(bell, &one, MemoryLayout.size(ofValue: one))
  }
}
