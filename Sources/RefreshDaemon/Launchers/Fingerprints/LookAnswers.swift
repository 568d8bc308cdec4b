import CLinux
import Glibc
import Synchronization

/// Answers on their way from the threads of looks to the loop.
final class LookAnswers<Look: Sendable>: Sendable {
  private let waiting = Mutex<[(number: UInt64, look: Look)]>([])
  /// Readable while answers wait.
  let descriptor: Int32

  init() throws(SystemCallError) {
    descriptor = linux_eventfd()
    guard descriptor >= 0 else { throw SystemCallError(attempt: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// Passes on the answer to the look with a number; any thread may call this.
  func add(_ number: UInt64, _ look: Look) {
    waiting.withLock { $0.append((number, look)) }
    eventfd_write(descriptor, 1)
  }

  /// Takes all waiting answers.
  func drain() -> [(number: UInt64, look: Look)] {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}
