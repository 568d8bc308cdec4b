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

/// The start of a process: what a thread needs to start it, and how that ended.
///
/// The loop makes it and gives it to a thread, which gives it back; only ``kill()`` may be called meanwhile.
final class ProcessStart: @unchecked Sendable {
  // @unchecked: the queue of a `StartThread` orders the uses.

  let program: String
  let directory: String
  let user: String
  /// The user whose starts count together.
  let uid: uid_t
  /// The reading end of the output.
  let output: Int32
  /// Called on the loop with the outcome.
  let answer: (Result<ChildProcess, StartError>) -> Void
  /// When the start takes too long, on the boot clock; nil before a thread has it.
  var end: Int64?
  /// Why the start is given up; nil while it is not.
  var isGivenUp: StartError?
  /// The id of the process; -1 if it was not started.
  private(set) var id: pid_t = -1

  private let request = UnsafeMutablePointer<linux_spawn>.allocate(capacity: 1)
  private let strings: [StringVector]
  private let path: UnsafeMutablePointer<CChar>
  private let groups: [gid_t]
  private let input: Int32
  private let writer: Int32
  private let cgroup: Int32?

  /// Makes the streams of a process; owns `cgroup`, an open `cgroup.procs` that it joins first.
  init(
    _ launch: TaskLaunch, cgroup: Int32?, files: rlimit, answer: @escaping (Result<ChildProcess, StartError>) -> Void
  ) throws(StartError) {
    let command = launch.command
    guard let program = command.arguments.first else { throw StartError(sentence: "cannot start an empty command") }
    let group = command.group ?? launch.owner.gid
    let changesUser = launch.owner.uid != geteuid() || group != getegid()
    guard let groups = changesUser ? launch.owner.groups : [] else {
      throw StartError(
        sentence: "cannot start \(program): the user database did not return the groups of \(launch.owner.name) when "
          + "the configuration was read; try refreshctl reload")
    }
    let input = try launch.input.map { (bytes) throws(StartError) in try TaskStreams.input(bytes, for: program) }
    let pipe: (reader: Int32, writer: Int32)
    do throws(StartError) { pipe = try TaskStreams.output(for: program) } catch {
      if let input { close(input) }
      throw error
    }
    (self.program, self.user, uid, self.groups) = (program, launch.owner.name, launch.owner.uid, groups)
    directory = command.directory ?? launch.owner.home
    (output, writer, self.cgroup, self.answer) = (pipe.reader, pipe.writer, cgroup, answer)
    self.input = input ?? -1
    strings = [StringVector(command.arguments), StringVector(launch.environment)]
    path = strdup(directory)

    request.initialize(to: linux_spawn())
    request.pointee.program = UnsafePointer(strings[0].pointers[0])
    request.pointee.arguments = UnsafePointer(strings[0].pointers)
    request.pointee.environment = UnsafePointer(strings[1].pointers)
    request.pointee.directory = UnsafePointer(path)
    request.pointee.cgroup = cgroup ?? -1
    request.pointee.files = files
    request.pointee.processes = cgroup == nil ? Self.processes : rlim_t.max
    request.pointee.gives_way = launch.givesWay ? 1 : 0
    request.pointee.changes_user = changesUser ? 1 : 0
    request.pointee.user = launch.owner.uid
    request.pointee.group = group
    request.pointee.pidfd = -1
  }

  /// The most processes and threads of the user of a task without a cgroup, beyond which the task makes none.
  private static let processes: rlim_t = 4096

  deinit {
    free(path)
    request.deallocate()
  }

  /// Starts the process on the calling thread, which waits until the program runs.
  func run(on stage: StartThread.Stage) {
    let staged = stage.streams
    // Writing ends that stayed open here would hide the end of the task's output.
    defer {
      _ = linux_copy_descriptor(stage.null, staged.input)
      _ = linux_copy_descriptor(stage.null, staged.output)
      closeStreams()
    }
    guard linux_copy_descriptor(input >= 0 ? input : stage.null, staged.input) >= 0,
      linux_copy_descriptor(writer, staged.output) >= 0
    else {
      (request.pointee.failed, request.pointee.error) = (LINUX_SPAWN_STREAMS, errno)
      return
    }
    request.pointee.input = staged.input
    request.pointee.output = staged.output
    request.pointee.last = max(staged.input, staged.output)
    groups.withUnsafeBufferPointer { groups in
      request.pointee.groups = groups.baseAddress
      request.pointee.group_count = groups.count
      request.pointee.shares = stage.sharesDescriptors ? 1 : 0
      id = linux_spawn_start(request, stage.stack, StartThread.Stage.stackBytes)
      guard request.pointee.failed == LINUX_SPAWN_TABLE else { return }
      close(request.pointee.pidfd)
      stage.sharesDescriptors = false
      request.pointee.shares = 0
      id = linux_spawn_start(request, stage.stack, StartThread.Stage.stackBytes)
    }
  }

  /// Ends the process, if the thread has made it; callable while the thread starts it.
  func kill() { linux_spawn_kill(request) }

  /// The id of a process that the thread is starting; nil if it has made none.
  var startingProcess: pid_t? {
    let id = linux_spawn_pid(request)
    return id > 0 ? id : nil
  }

  /// Closes the descriptors of a start that no thread gets.
  func abandon() {
    closeStreams()
    close(output)
  }

  private func closeStreams() {
    if input >= 0 { close(input) }
    close(writer)
    if let cgroup { close(cgroup) }
  }

  /// The started process, or why there is none; no thread has the start.
  ///
  /// A start that was given up may have a process all the same, which was killed.
  func outcome() -> Result<ChildProcess, StartError> {
    guard id > 0 else {
      if request.pointee.pidfd >= 0 { close(request.pointee.pidfd) }
      close(output)
      return .failure(isGivenUp ?? failure)
    }
    return .success(ChildProcess(id: id, descriptor: request.pointee.pidfd, output: output))
  }

  private var failure: StartError {
    let code = request.pointee.error
    switch request.pointee.failed {
    case LINUX_SPAWN_CGROUP:
      return StartError(program, "cannot join its cgroup", code)
    case LINUX_SPAWN_STREAMS:
      return StartError(program, "cannot connect its standard streams", code)
    case LINUX_SPAWN_USER:
      let remedy = "; only a daemon that runs as root can start tasks of other users and groups"
      return StartError(program, "cannot become user \(user)", code, remedy: code == EPERM ? remedy : "")
    case LINUX_SPAWN_DIRECTORY:
      return StartError(program, "cannot enter its directory \(directory)", code, remedy: "; make it, or name another")
    case LINUX_SPAWN_PROGRAM:
      return StartError(program, exec: code)
    default:
      return StartError(program, "cannot make a process", code)
    }
  }
}

/// Strings in the form of `argv` and `environ`: pointers to C strings, and a null pointer at the end.
private final class StringVector {
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  private let bytes: UnsafeMutableRawBufferPointer

  /// All bytes are in one block, because every start of a task makes one.
  init(_ strings: [String]) {
    pointers = .allocate(capacity: strings.count + 1)
    bytes = .allocate(byteCount: strings.reduce(0) { $0 + $1.utf8.count + 1 }, alignment: 1)
    var offset = 0
    for (index, string) in strings.enumerated() {
      let slot = UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
      slot.copyBytes(from: string.utf8)
      slot[string.utf8.count] = 0
      pointers.advanced(by: index).initialize(to: slot.baseAddress?.assumingMemoryBound(to: CChar.self))
      offset += string.utf8.count + 1
    }
    pointers.advanced(by: strings.count).initialize(to: nil)
  }

  deinit {
    pointers.deallocate()
    bytes.deallocate()
  }
}
