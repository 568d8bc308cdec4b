import CLinux
import Glibc
import Synchronization
import Threads

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
