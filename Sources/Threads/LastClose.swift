import CLinux
import Glibc
import Synchronization

/// Closes descriptors whose last close may hang, such as a socket in which descriptors of somebody else wait.
///
/// The close of a TCP socket may wait for its peer as long as its owner likes (`SO_LINGER`, socket(7)). But a thread that
/// ends waits for no peer. So a thread takes a descriptor into a table of its own, and ends. A file system that does not
/// answer can still keep that thread from its end; then only this thread hangs.
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

  /// Calls `body`, which closes descriptors, while another thread has all descriptors of the process.
  ///
  /// The thread closes them for the last time. The caller waits for its begin only.
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

  /// Calls `body` while a thread has a descriptor, or all of them; returns the id of the thread, which ends then.
  ///
  /// Returns nil if the machine can start no thread.
  private static func onEndingThread(with descriptor: Int32?, _ body: () -> Void) -> pid_t? {
    let handover = Handover()
    let code = DetachedThread.begin(stackBytes: 64 * 1024) {
      // A kernel or a filter of system calls that refuses leaves the thread without; then `body` may hang.
      _ = descriptor.map(linux_keep_alone) ?? linux_keep_all()
      handover.thread = linux_thread_id()
      sem_post(handover.taken)
      sem_wait(handover.closed)
    }
    guard code == 0 else { return nil }
    sem_wait(handover.taken)
    body()
    sem_post(handover.closed)
    return handover.thread
  }

  /// The agreement of two threads about a descriptor.
  private final class Handover: @unchecked Sendable {
    // @unchecked: `taken` orders the uses of `thread`.

    /// Posted when the ending thread has what it is to hold.
    let taken = UnsafeMutablePointer<sem_t>.allocate(capacity: 2)
    /// Posted when nobody else has it.
    var closed: UnsafeMutablePointer<sem_t> { taken + 1 }
    var thread: pid_t = 0

    init() {
      sem_init(taken, 0, 0)
      sem_init(closed, 0, 0)
    }

    deinit {
      sem_destroy(taken)
      sem_destroy(closed)
      taken.deallocate()
    }
  }
}
