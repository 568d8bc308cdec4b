import CSystemd
import Glibc

/// The daemon's only loop: sd-event(3) as the serial executor of its actors.
///
/// DESIGN section 3, "One thread on sd-event". The loop belongs to the thread that makes it, and everything but
/// ``enqueue(_:)`` is called on that thread only. An actor whose `unownedExecutor` is the loop runs on that thread too;
/// handlers of sources enter it with `assumeIsolated`, without a hop.
///
/// An actor's work goes before sleep but does not starve sources: a turn runs at most ``jobsPerTurn`` executor jobs,
/// then looks at the descriptors and timers once, then goes on.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
  /// How many executor jobs run before the loop looks at its sources again.
  ///
  /// One look costs about as much as ten jobs, so at this bound it is lost in the noise.
  static let jobsPerTurn = 256

  let event: OpaquePointer
  let descriptors: Descriptors
  private let thread = pthread_self()

  /// Work enqueued on the loop's own thread; everything before `next` has run.
  private var jobs: [UnownedJob] = []
  private var next = 0
  /// Work enqueued on other threads, until the loop takes it in.
  private let foreignJobs: ForeignJobs
  private var arrival: IOSource?

  /// Makes a loop for the calling thread.
  ///
  /// Throws when the process has no descriptors left: it needs three, and sd-event(3) one for timers and one for
  /// signals.
  public init() throws(SystemdError) {
    descriptors = try Descriptors()
    foreignJobs = try ForeignJobs()
    var event: OpaquePointer?
    try check(sd_event_new(&event), cannot: "make an event loop")
    guard let event else { throw SystemdError(cannot: "make an event loop", code: ENOMEM) }
    self.event = event
    arrival = try watch(foreignJobs.descriptor, for: .readable) { [unowned self] _ in jobs += foreignJobs.take() }
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
  var isOnOwnThread: Bool { pthread_equal(thread, pthread_self()) != 0 }

  // MARK: Turning

  /// Turns until ``exit(_:)`` and gives back its code.
  ///
  /// A loop runs once: sd-event(3) does not restart one that has ended. Throws when called on another thread than the
  /// one that made the loop (`EPERM`), a second time (`ESTALE`), or when the kernel refuses to wait.
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

  /// Ends ``run()`` after the turn in progress, with `code`.
  ///
  /// No handler is called any more. Executor jobs of the same turn still run; what they enqueue does not.
  public func exit(_ code: Int32) {
    descriptors.isEnding = true
    require(sd_event_exit(event, code), "end the event loop")
  }

  /// Has the loop itself keep the service's watchdog quiet, and tells whether there is one.
  ///
  /// `WatchdogSec=` in the unit sets the time; the loop sends `WATCHDOG=1` at about half of it, and only while it
  /// turns (sd_event_set_watchdog(3)).
  public func watchdog() throws(SystemdError) -> Bool {
    try check(sd_event_set_watchdog(event, 1), cannot: "arm the watchdog") > 0
  }

  // MARK: Executor

  /// Takes work of an actor; the only method for any thread.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isOnOwnThread { jobs.append(job) } else { foreignJobs.append(job) }
  }

  /// Stops the process unless the caller is on the loop's thread (SE-0424).
  ///
  /// By the thread's identity: a handler that libsystemd calls runs in no task, and is in the right place all the same.
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
