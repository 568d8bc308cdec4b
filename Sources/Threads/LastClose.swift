import CLinux
import Glibc
import Synchronization

/// Closes descriptors whose last close may hang, such as a socket that holds descriptors sent by another program.
///
/// The close of a TCP socket may wait for its peer as long as its owner has configured (`SO_LINGER`, socket(7)). But a
/// thread that exits does not wait for a peer. So a thread moves a descriptor into a descriptor table of its own, and
/// exits. A file system that does not answer can still block that exit; then only this thread hangs.
public enum LastClose {
  /// The most threads that hang at once; further descriptors stay open until one of them has ended.
  private static let threads = 32
  /// The pause before another try, in microseconds.
  private static let pause: UInt32 = 100_000

  private struct State {
    var waiting: [Int32] = []
    var isAtWork = false
  }

  private static let state = Mutex(State())

  /// Closes a descriptor soon, on another thread; callable on any thread.
  public static func close(_ descriptor: Int32) {
    let mustStart = state.withLock { state in
      state.waiting.append(descriptor)
      defer { state.isAtWork = true }
      return !state.isAtWork
    }
    // Without a thread the descriptor stays open until the next call.
    if mustStart, DetachedThread.begin(work) != 0 { state.withLock { $0.isAtWork = false } }
  }

  /// Calls `body`, which closes descriptors, while another thread holds all descriptors of the process.
  ///
  /// That thread does the last close. The caller waits only until the thread has started.
  public static func whileHeld(_ body: () -> Void) {
    if onEndingThread(with: nil, body) == nil { body() }
  }

  private static func work() {
    var ending: [pid_t] = []
    while let descriptor = next() {
      while true {
        ending.removeAll { linux_thread_exists($0) == 0 }
        if ending.count < threads, let thread = onEndingThread(with: descriptor, { Glibc.close(descriptor) }) {
          ending.append(thread)
          break
        }
        usleep(pause)
      }
    }
  }

  private static func next() -> Int32? {
    state.withLock { state in
      if state.waiting.isEmpty {
        state.isAtWork = false
        return nil
      }
      return state.waiting.removeFirst()
    }
  }

  /// Calls `body` while a thread holds a descriptor, or all of them; returns the id of the thread, which then exits.
  ///
  /// Returns nil if the machine can start no thread.
  private static func onEndingThread(with descriptor: Int32?, _ body: () -> Void) -> pid_t? {
    let handover = Handover()
    let code = DetachedThread.begin(stackBytes: 64 * 1024) {
      // If the kernel or a system call filter refuses, the thread holds nothing, and `body` may hang.
      _ = descriptor.map(linux_keep_alone) ?? linux_keep_all()
      handover.thread = linux_thread_id()
      sem_post(handover.held)
      sem_wait(handover.closed)
    }
    guard code == 0 else { return nil }
    sem_wait(handover.held)
    body()
    sem_post(handover.closed)
    return handover.thread
  }

  /// The agreement of two threads about a descriptor.
  private final class Handover: @unchecked Sendable {
    // @unchecked: `held` orders the uses of `thread`.

    /// Posted when the exiting thread holds the descriptors.
    let held = UnsafeMutablePointer<sem_t>.allocate(capacity: 2)
    /// Posted when no other thread has them open.
    var closed: UnsafeMutablePointer<sem_t> { held + 1 }
    var thread: pid_t = 0

    init() {
      sem_init(held, 0, 0)
      sem_init(closed, 0, 0)
    }

    deinit {
      sem_destroy(held)
      sem_destroy(closed)
      held.deallocate()
    }
  }
}
