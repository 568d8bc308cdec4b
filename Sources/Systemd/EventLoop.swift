import CSystemd
import Glibc
import Synchronization

/// The event loop of the process: sd-event(3) as a serial executor of actors.
///
/// The loop belongs to the thread that makes it. All methods but ``enqueue(_:)`` must be called on that thread. An
/// actor whose `unownedExecutor` is the loop runs on that thread too. Event handlers enter such an actor with
/// `assumeIsolated`, without a hop.
///
/// Jobs of actors run before the loop sleeps, but do not starve event sources: a turn runs at most ``jobsPerTurn``
/// jobs, and then checks descriptors and timers once.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
  /// The most executor jobs in a turn.
  ///
  /// A check of the event sources costs about as much as ten jobs, so with this limit its cost is negligible.
  private static let jobsPerTurn = 256

  let event: OpaquePointer
  let descriptors: Descriptors
  private let thread = pthread_self()

  /// Jobs from the loop's own thread; all jobs before `next` have run.
  private var jobs: [UnownedJob] = []
  private var next = 0
  /// Jobs from other threads, until the loop collects them.
  private let foreignJobs: ForeignJobs
  private var arrival: IOSource?

  /// Makes a loop for the calling thread.
  ///
  /// Throws when the process has no descriptors left. The loop needs three, and sd-event(3) needs one for timers and
  /// one for signals.
  public init() throws(SystemdError) {
    descriptors = try Descriptors()
    foreignJobs = try ForeignJobs()
    var event: OpaquePointer?
    try check(sd_event_new(&event), cannot: "make an event loop")
    guard let event else { throw SystemdError(cannot: "make an event loop", code: ENOMEM) }
    self.event = event
    arrival = try watch(foreignJobs.descriptor, for: .readable) { [unowned self] _ in jobs += foreignJobs.drain() }
    let callback: sd_event_io_handler_t = { _, _, _, context in
      guard let context else { return 0 }
      Unmanaged<Descriptors>.fromOpaque(context).takeUnretainedValue().dispatch()
      return 0
    }
    try check(
      sd_event_add_io(
        event, nil, descriptors.set, UInt32(EPOLLIN.rawValue), callback,
        Unmanaged.passUnretained(descriptors).toOpaque()),
      cannot: "watch the loop's descriptors")
  }

  deinit { sd_event_unref(event) }

  /// Whether the caller is on the loop's thread.
  private var isOnOwnThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

  // MARK: Turning

  /// Runs the loop until ``exit(_:)``, and returns its code.
  ///
  /// A loop runs only once, because sd-event(3) does not restart. Throws on a thread that did not make the loop
  /// (`EPERM`), the second time (`ESTALE`), and when the kernel refuses to wait.
  public func run() throws(SystemdError) -> Int32 {
    guard isOnOwnThread else {
      throw SystemdError(cannot: "run the event loop", code: EPERM, remedy: "Run it on the thread that made it.")
    }
    repeat {
      runJobs()
      try check(sd_event_run(event, jobs.isEmpty ? .max : 0), cannot: "run the event loop")
    } while sd_event_get_state(event) != Int32(SD_EVENT_FINISHED)
    var code: Int32 = 0
    try check(sd_event_get_exit_code(event, &code), cannot: "read the exit code of the event loop")
    return code
  }

  /// Ends ``run()`` with `code` after the current turn.
  ///
  /// No handler is called after that. Jobs of the current turn still run, but not the jobs that they enqueue.
  public func exit(_ code: Int32) {
    descriptors.isEnding = true
    require(sd_event_exit(event, code), "end the event loop")
  }

  /// Makes the loop send the watchdog messages of the service; returns whether there is a watchdog.
  ///
  /// `WatchdogSec=` in the unit sets the timeout. The loop sends `WATCHDOG=1` after about half of it, but only while it
  /// turns (sd_event_set_watchdog(3)).
  public func watchdog() throws(SystemdError) -> Bool {
    try check(sd_event_set_watchdog(event, 1), cannot: "arm the watchdog") > 0
  }

  // MARK: Executor

  /// Enqueues a job of an actor; the only method for all threads.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnOwnThread { jobs.append(job) } else { foreignJobs.append(job) }
  }

  /// Stops the process unless the caller is on the loop's thread (SE-0424).
  ///
  /// This compares threads, because a handler that libsystemd calls runs in no Swift task.
  public func checkIsolated() {
    precondition(isOnOwnThread, "the event loop's actors are entered on its own thread only")
  }

  /// Whether the caller is on the loop's thread (SE-0471).
  public func isIsolatingCurrentContext() -> Bool? { isOnOwnThread }

  private func runJobs() {
    let executor = asUnownedSerialExecutor()
    var left = Self.jobsPerTurn
    while left > 0, next < jobs.count {
      let job = jobs[next]
      next += 1
      left -= 1
      job.runSynchronously(on: executor)
    }
    if next == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      next = 0
    } else if next > jobs.count / 2 {
      jobs.removeSubrange(..<next)
      next = 0
    }
  }
}

/// Executor jobs from other threads, with an eventfd(2) that wakes the loop.
private final class ForeignJobs: Sendable {
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

/// The descriptors that a loop watches, in one epoll(7) set; sd-event sees only the set.
///
/// sd-event(3) asks the kernel for everything that is ready before each call of a handler, so a thousand tasks that end
/// together would cost a million checks. This was measured at 51 µs a handler, against 1 µs with this set. A turn of
/// the loop asks once, calls at most ``eventsPerTurn`` handlers, and then runs timers, signals and actors.
final class Descriptors {
  /// The most handlers that are called in a turn; the next turn continues with the others.
  private static let eventsPerTurn = 64

  /// The epoll set, which is readable while any descriptor in it is ready.
  fileprivate let set: Int32
  /// Set when the loop ends: no handler is called from then on.
  fileprivate var isEnding = false

  private var handlers: [UInt64: (IOEvents) -> Void] = [:]
  private var lastToken: UInt64 = 0
  private let ready: UnsafeMutableBufferPointer<epoll_event>

  init() throws(SystemdError) {
    set = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard set >= 0 else { throw SystemdError(cannot: "make an epoll set", code: errno) }
    ready = .allocate(capacity: Self.eventsPerTurn)
  }

  deinit {
    ready.deallocate()
    close(set)
  }

  /// Adds `descriptor` and returns a token, which no later watch ever has.
  ///
  /// If a watch ends in a turn, its pending event finds no handler, even if a new descriptor already has the same
  /// number.
  func add(
    _ descriptor: Int32, for events: IOEvents, handler: @escaping (IOEvents) -> Void
  ) throws(SystemdError) -> UInt64 {
    let token = lastToken + 1
    guard control(EPOLL_CTL_ADD, descriptor, events, token) == 0 else {
      throw SystemdError(cannot: "watch descriptor \(descriptor)", code: errno)
    }
    lastToken = token
    handlers[token] = handler
    return token
  }

  /// Changes the events; the descriptor must still be open.
  func change(_ descriptor: Int32, to events: IOEvents, token: UInt64) {
    let result = control(EPOLL_CTL_MOD, descriptor, events, token)
    precondition(result == 0, "descriptor \(descriptor) was closed before its watch was cancelled")
  }

  /// Removes `descriptor`.
  func remove(_ descriptor: Int32, token: UInt64) {
    guard handlers.removeValue(forKey: token) != nil else { return }
    // EBADF: the descriptor was closed too early, so the kernel has removed it already.
    _ = control(EPOLL_CTL_DEL, descriptor, [], token)
  }

  /// Calls the handlers of all ready descriptors, without waiting.
  fileprivate func dispatch() {
    let count = epoll_wait(set, ready.baseAddress, Int32(ready.count), 0)
    for index in 0..<max(0, Int(count)) where !isEnding {
      let event = ready[index]
      handlers[event.data.u64]?(IOEvents(rawValue: event.events))
    }
  }

  private func control(_ operation: Int32, _ descriptor: Int32, _ events: IOEvents, _ token: UInt64) -> Int32 {
    var event = epoll_event(events: events.rawValue, data: epoll_data_t(u64: token))
    return epoll_ctl(set, operation, descriptor, &event)
  }
}
