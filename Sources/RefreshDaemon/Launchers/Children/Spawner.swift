@preconcurrency import CLinux
import CLinux
import Glibc
import Synchronization
import Systemd
import Threads

/// A started process and its descriptors.
struct ChildProcess {
  /// The id of the process, its session and its process group.
  let id: pid_t
  /// The pidfd, readable when the process has ended; the receiver closes it.
  let descriptor: Int32
  /// The non-blocking reading end of its standard output and standard error; the receiver closes it.
  let output: Int32
}

/// Starts processes as `Sources/CLinux/spawn.h` describes, on threads, because a start may hang.
///
/// A start that takes longer than ``longest`` has failed. Its thread is lost until the kernel lets the process go; a user
/// has a bounded number of threads, so that others have theirs.
final class Spawner {
  /// The longest that the start of a process may take, in microseconds.
  static let longest: Int64 = 10_000_000
  /// The most starts of a user at once; more wait for these.
  static let startsOfUser = 4

  /// A thread and what it is for.
  private final class Worker {
    let thread: StartThread
    var current: ProcessStart?
    /// The processes that were not reaped yet.
    var processes: Set<pid_t> = []
    init(_ thread: StartThread) { self.thread = thread }
  }

  private let loop: EventLoop
  /// The limit of open files that the daemon was started with, before the daemon raised it.
  private let files = DescriptorLimit.current
  private var workers: [Worker] = []
  private var waiting: [uid_t: [ProcessStart]] = [:]
  private let done = DoneStarts()
  private var arrival: IOSource?
  private var bound: TimerSource?

  /// Makes a spawner; throws when the loop has no room for its events.
  init(on loop: EventLoop) throws {
    self.loop = loop
    arrival = try loop.watch(done.descriptor, for: .readable) { [unowned self] _ in finish() }
    bound = try loop.timer { [unowned self] in giveUpOverdue() }
  }

  deinit {
    arrival?.cancel()
    bound?.cancel()
    for worker in workers where worker.current == nil && worker.processes.isEmpty { worker.thread.end() }
  }

  /// Starts the main process of a task; answers in a later turn of the loop, when its program runs.
  ///
  /// `cgroup` is an open `cgroup.procs` that the process joins first; the spawner closes it, unless it throws.
  func spawn(
    _ launch: TaskLaunch, cgroup: Int32?, answer: @escaping (Result<ChildProcess, StartError>) -> Void
  ) throws(StartError) -> ProcessStart {
    let start = try ProcessStart(launch, cgroup: cgroup, files: files, answer: answer)
    do throws(StartError) {
      if try !hand(start) { waiting[start.uid, default: []].append(start) }
    } catch {
      start.abandon()
      throw error
    }
    return start
  }

  /// Gives up a start; its answer comes when its process is gone.
  func giveUp(_ start: ProcessStart, because error: StartError) {
    start.isGivenUp = error
    guard start.end == nil else { return start.kill() }
    waiting[start.uid]?.removeAll { $0 === start }
    start.abandon()
    start.answer(.failure(error))
  }

  /// Counts a reaped process; the last of a thread ends it.
  func reaped(_ process: pid_t) {
    workers.first { $0.processes.contains(process) }?.processes.remove(process)
    endIdleWorkers()
  }

  // MARK: Threads

  /// Gives a start to a thread; returns false if it must wait for earlier starts of its user.
  private func hand(_ start: ProcessStart) throws(StartError) -> Bool {
    let others = current(of: start.uid)
    guard others.count < Self.startsOfUser else { return false }
    let worker: Worker
    do throws(SystemCallError) {
      if let idle = workers.first(where: { $0.current == nil }) { worker = idle } else { worker = try makeWorker() }
    } catch {
      guard others.isEmpty else { return false }
      throw StartError(start.program, "cannot make a thread", error.code)
    }
    worker.current = start
    start.end = EventLoop.bootMicroseconds() + Self.longest
    armBound()
    worker.thread.run(start)
    return true
  }

  private func makeWorker() throws(SystemCallError) -> Worker {
    let worker = Worker(try StartThread { [done] in done.add($0) })
    workers.append(worker)
    return worker
  }

  private func endIdleWorkers() {
    workers.removeAll { worker in
      guard worker.current == nil, worker.processes.isEmpty else { return false }
      worker.thread.end()
      return true
    }
  }

  private func current(of uid: uid_t) -> [ProcessStart] { workers.compactMap(\.current).filter { $0.uid == uid } }

  private func finish() {
    for start in done.take() {
      let worker = workers.first { $0.current === start }
      worker?.current = nil
      let outcome = start.outcome()
      if case .success(let process) = outcome { worker?.processes.insert(process.id) }
      startNext(of: start.uid)
      start.answer(outcome)
    }
    endIdleWorkers()
    armBound()
  }

  private func startNext(of uid: uid_t) {
    guard var queue = waiting.removeValue(forKey: uid) else { return }
    while let next = queue.first {
      do throws(StartError) {
        guard try hand(next) else { break }
      } catch {
        giveUp(next, because: error)
      }
      queue.removeFirst()
    }
    if !queue.isEmpty { waiting[uid] = queue }
  }

  // MARK: Starts that hang

  private func armBound() {
    let ends = workers.compactMap(\.current).filter { $0.isGivenUp == nil }.compactMap(\.end)
    if let next = ends.min() { bound?.arm(at: next, accuracy: 100_000) } else { bound?.disarm() }
  }

  private func giveUpOverdue() {
    let now = EventLoop.bootMicroseconds()
    for case let start? in workers.map(\.current) where start.isGivenUp == nil && start.end.map({ $0 <= now }) == true {
      giveUp(
        start,
        because: StartError(
          sentence: "cannot start \(start.program): the file system of the program or of its directory "
            + "\(start.directory) has not answered for 10 s, or a process has a lease on the program"))
    }
    for (uid, queue) in waiting where current(of: uid).allSatisfy({ $0.isGivenUp != nil }) {
      for start in queue {
        giveUp(
          start,
          because: StartError(
            sentence: "cannot start \(start.program): \(Self.startsOfUser) earlier programs of \(start.user) hang in "
              + "their starts; `refreshctl status` names them"))
      }
    }
    armBound()
  }
}

/// The starts that threads have given back, for the loop.
private final class DoneStarts: Sendable {
  /// Readable while there are some.
  let descriptor = linux_eventfd()
  private let starts = Mutex<[ProcessStart]>([])

  deinit { close(descriptor) }

  func add(_ start: ProcessStart) {
    starts.withLock { $0.append(start) }
    eventfd_write(descriptor, 1)
  }

  func take() -> [ProcessStart] {
    var count: eventfd_t = 0
    _ = eventfd_read(descriptor, &count)
    return starts.withLock { starts in
      defer { starts = [] }
      return starts
    }
  }
}

/// A thread that starts one process after another, and lives as long as the last of them.
///
/// A process dies with the thread that started it (`PR_SET_PDEATHSIG`), so the thread ends only when all are reaped.
final class StartThread: Sendable {
  /// The memory and the descriptors of a thread for its starts.
  final class Stage {
    /// Enough for the few frames of the child and for a signal frame.
    static let stackBytes = 64 * 1024
    let stack = UnsafeMutableRawPointer.allocate(byteCount: stackBytes, alignment: 4096)
    let null: Int32
    /// The descriptors from which the child takes its streams; `/dev/null` between starts.
    ///
    /// They are opened once, because the child copies every descriptor up to them.
    let streams: (input: Int32, output: Int32)
    /// Whether a child shares the descriptors until it has copied the few that it needs.
    var sharesDescriptors = linux_copies_few_descriptors() != 0

    init() throws(SystemCallError) {
      null = open("/dev/null", O_RDONLY | O_CLOEXEC)
      streams = (fcntl(null, F_DUPFD_CLOEXEC, 3), fcntl(null, F_DUPFD_CLOEXEC, 3))
      guard null >= 0, streams.input >= 0, streams.output >= 0 else {
        throw SystemCallError(attempt: "open /dev/null", code: errno)
      }
    }

    deinit {
      for descriptor in [null, streams.input, streams.output] where descriptor >= 0 { close(descriptor) }
      stack.deallocate()
    }
  }

  private struct Orders {
    var next: ProcessStart?
    var isOver = false
  }

  private let orders = Mutex(Orders())
  /// Posted once for each order.
  private nonisolated(unsafe) let arrival: UnsafeMutablePointer<sem_t> = .allocate(capacity: 1)

  /// Starts the thread; calls `onDone` on it after each start.
  init(onDone: @escaping @Sendable (ProcessStart) -> Void) throws(SystemCallError) {
    sem_init(arrival, 0, 0)
    let stage = Handed(stage: try Stage())
    let code = DetachedThread.begin(stackBytes: 64 * 1024) { [self] in
      while let start = next() {
        start.run(on: stage.stage)
        onDone(start)
      }
    }
    guard code == 0 else { throw SystemCallError(attempt: "make a thread", code: code) }
  }

  deinit {
    sem_destroy(arrival)
    arrival.deallocate()
  }

  /// Hands over a start; the one before must be done.
  func run(_ start: ProcessStart) { order { $0.next = start } }

  /// Ends the thread; it must have no process.
  func end() { order { $0.isOver = true } }

  private func order(_ change: (inout Orders) -> Void) {
    orders.withLock { change(&$0) }
    sem_post(arrival)
  }

  private func next() -> ProcessStart? {
    while sem_wait(arrival) != 0 {}
    return orders.withLock { orders in
      defer { orders.next = nil }
      return orders.next
    }
  }

  /// The stage belongs to the thread, which the compiler cannot see.
  private struct Handed: @unchecked Sendable {
    let stage: Stage
  }
}
