import Glibc
import Testing

@testable import Threads

/// A thread runs while there is work, and none otherwise.
@Suite struct ThreadExecutorTests {
  /// An actor that lives on an executor under test.
  private actor Worker {
    let executor: ThreadExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var count = 0

    init(_ executor: ThreadExecutor) { self.executor = executor }

    func add() -> Int {
      count += 1
      return count
    }

    func thread() -> pthread_t { pthread_self() }

    /// Has the end of this actor's thread posted on `ending`.
    func announceEnd(on ending: Ending) {
      var key = pthread_key_t()
      pthread_key_create(&key) { semaphore in
        semaphore.map { _ = sem_post($0.assumingMemoryBound(to: sem_t.self)) }
      }
      pthread_setspecific(key, ending.semaphore)
    }

    func threadName() -> String {
      var bytes = [UInt8](repeating: 0, count: 64)
      let descriptor = open("/proc/thread-self/comm", O_RDONLY)
      defer { close(descriptor) }
      let count = max(0, read(descriptor, &bytes, bytes.count))
      return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Whether the thread takes no signal.
    func blocksSignals() -> Bool {
      var set = sigset_t()
      pthread_sigmask(SIG_BLOCK, nil, &set)
      return [SIGTERM, SIGHUP, SIGINT, SIGCHLD].allSatisfy { sigismember(&set, $0) == 1 }
    }

    nonisolated func isIsolated() -> Bool? { executor.isIsolatingCurrentContext() }

    func isIsolatedInside() -> Bool? {
      assumeIsolated { _ in }
      return executor.isIsolatingCurrentContext()
    }
  }

  /// Something that a thread's end is waited for with.
  private final class Ending: @unchecked Sendable {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }
    deinit { semaphore.deallocate() }

    /// Whether the end came within `seconds`.
    func came(within seconds: Int) -> Bool {
      var end = timespec()
      clock_gettime(CLOCK_REALTIME, &end)
      end.tv_sec += seconds
      return sem_timedwait(semaphore, &end) == 0
    }
  }

  @Test func `jobs from many tasks run one at a time, on one thread`() async {
    let worker = Worker(ThreadExecutor(name: "one"))
    await withTaskGroup { group in
      for _ in 1...1_000 {
        group.addTask { _ = await worker.add() }
      }
    }
    #expect(await worker.add() == 1_001)
    let first = await worker.thread()
    #expect(await worker.thread() == first)
    #expect(first != pthread_self())
  }

  @Test func `the thread has its name and takes no signals`() async {
    let worker = Worker(ThreadExecutor(name: "a-name-of-eighteen"))
    #expect(await worker.threadName() == "a-name-of-eight")
    #expect(await worker.blocksSignals())
  }

  @Test func `it knows whether the caller runs on it`() async {
    let worker = Worker(ThreadExecutor(name: "isolated"))
    #expect(await worker.isIsolatedInside() == true)
    #expect(worker.isIsolated() == false)
  }

  @Test func `the thread ends when it is idle, and another comes when there is work`() async {
    let worker = Worker(ThreadExecutor(name: "idle"))
    let ending = Ending()
    await worker.announceEnd(on: ending)
    #expect(ending.came(within: 10))
    #expect(await worker.add() == 1)
  }

  @Test func `without a thread the caller does the work itself`() async {
    // No machine has a stack of 2^46 bytes to give, so pthread_create fails.
    let worker = Worker(ThreadExecutor(name: "none", stackBytes: 1 << 46))
    #expect(await worker.add() == 1)
    #expect(await worker.isIsolatedInside() == true)
    #expect(worker.isIsolated() == false)
    #expect(await worker.add() == 2)
  }
  @Test func `without a thread the executor outlives its last job`() async {
    for _ in 1...200 {
      weak var executor: ThreadExecutor?
      do {
        let worker = Worker(ThreadExecutor(name: "none", stackBytes: 1 << 46))
        executor = worker.executor
        await withTaskGroup { group in
          for _ in 1...4 { group.addTask { _ = await worker.add() } }
        }
      }
      // The thread that ran the last job may still hold it for a moment.
      while executor != nil { await Task.yield() }
    }
  }
}
