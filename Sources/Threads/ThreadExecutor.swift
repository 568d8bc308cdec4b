import Glibc

/// A serial executor with its own thread, which lives only while there is work.
///
/// Use it for blocking work on a disk, such as the read of a directory. The first job starts the thread. The thread ends
/// after a second without a job, so that an idle daemon has one thread and no wakes. Dispatch is not used, because its
/// threads stay and wake.
///
/// Jobs run one after the other, in their order. When the machine can start no thread, the caller of `enqueue` runs the
/// jobs itself: a late job is better than a lost one.
public final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
  // @unchecked: every stored variable is used with `lock` held, and nothing else is shared.

  /// The time in seconds that the thread waits for more work, on the monotonic clock.
  private static let patience = 1
  /// The address space of the thread's stack; SQLite and the walk of a directory need a tenth of it.
  public static let defaultStackBytes = 512 * 1024

  private let name: String
  private let stackBytes: Int
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let arrival: UnsafeMutablePointer<pthread_cond_t>
  private var jobs: [UnownedJob] = []
  private var hasWorker = false
  private var worker: pthread_t?

  /// Makes an executor whose thread `ps -L` and similar tools show as `name`.
  ///
  /// The kernel shows 15 bytes of a name (`proc_pid_comm(5)`). The thread's stack is address space, which costs memory
  /// only where it is used. No thread is started yet.
  public init(name: String, stackBytes: Int = defaultStackBytes) {
    self.name = name
    self.stackBytes = stackBytes
    lock = .allocate(capacity: 1)
    pthread_mutex_init(lock, nil)
    arrival = .allocate(capacity: 1)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(arrival, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(arrival)
    arrival.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  /// Queues a job from any thread; starts the thread if there is none.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let mustStart = locked {
      jobs.append(job)
      if hasWorker {
        pthread_cond_signal(arrival)
        return false
      }
      hasWorker = true
      return true
    }
    if mustStart, !startThread() {
      // A job may drop the last reference, on this thread or another; the runtime holds none for `enqueue`.
      let retained = Unmanaged.passRetained(self)
      work(waiting: false)
      retained.release()
    }
  }

  /// Whether the caller runs on this executor (SE-0471).
  public func isIsolatingCurrentContext() -> Bool? {
    locked { worker.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Traps unless the caller runs on this executor (SE-0424).
  public func checkIsolated() {
    precondition(isIsolatingCurrentContext() == true, "not on the thread of executor \(name)")
  }

  private func startThread() -> Bool {
    DetachedThread.begin(stackBytes: stackBytes) {
      self.nameThread()
      self.work(waiting: true)
    } == 0
  }

  /// Names the calling thread; without `/proc` it stays unnamed.
  ///
  /// The importer sees neither `pthread_setname_np` nor `prctl`, which is variadic.
  private func nameThread() {
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    write(descriptor, name, name.utf8.count)
    close(descriptor)
  }

  /// Runs the queued jobs, and the jobs that arrive during the wait, on the calling thread.
  private func work(waiting: Bool) {
    locked { worker = pthread_self() }
    while let batch = nextJobs(waiting: waiting) {
      for job in batch {
        job.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
  }

  /// The queued jobs; nil when the wait is over, and then the worker has ended.
  private func nextJobs(waiting: Bool) -> [UnownedJob]? {
    locked {
      if jobs.isEmpty, waiting {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        end.tv_sec += Self.patience
        while jobs.isEmpty, pthread_cond_timedwait(arrival, lock, &end) != ETIMEDOUT {}
      }
      if jobs.isEmpty {
        hasWorker = false
        worker = nil
        return nil
      }
      let batch = jobs
      jobs.removeAll(keepingCapacity: true)
      return batch
    }
  }

  private func locked<Result>(_ body: () -> Result) -> Result {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    return body()
  }
}
