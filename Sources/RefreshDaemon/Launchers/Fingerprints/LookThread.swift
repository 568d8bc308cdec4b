import CLinux
import Glibc
import RefreshConfig
import Synchronization

/// A look at a path, on a thread of its own.
///
/// A thread that hangs in the kernel cannot be ended, only forgotten: it may not be one that others wait for.
final class LookThread: Sendable {
  /// The answers on their way from the threads to the loop.
  final class Answers: Sendable {
    private let waiting = Mutex<[(number: UInt64, look: PathLook)]>([])
    let descriptor: Int32

    init() throws(SystemCallError) {
      descriptor = linux_eventfd()
      guard descriptor >= 0 else { throw SystemCallError(attempt: "make an eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    fileprivate func add(_ number: UInt64, _ look: PathLook) {
      waiting.withLock { $0.append((number, look)) }
      eventfd_write(descriptor, 1)
    }

    func drain() -> [(number: UInt64, look: PathLook)] {
      var count: eventfd_t = 0
      eventfd_read(descriptor, &count)
      return waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
  }

  /// Address space of a thread's stack; a walk needs a tenth of it.
  private static let stackBytes = 256 * 1024

  private let number: UInt64
  private let answers: Answers
  private let look: @Sendable () -> PathLook

  private init(_ number: UInt64, _ answers: Answers, _ look: @escaping @Sendable () -> PathLook) {
    (self.number, self.answers, self.look) = (number, answers, look)
  }

  /// Begins a look; false when the machine has no thread to give.
  static func begin(_ number: UInt64, _ answers: Answers, look: @escaping @Sendable () -> PathLook) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let retained = Unmanaged.passRetained(LookThread(number, answers, look))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        guard let context else { return nil }
        let thread = Unmanaged<LookThread>.fromOpaque(context).takeRetainedValue()
        // Signals belong to the event loop's thread.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        thread.answers.add(thread.number, thread.look())
        return nil
      }, retained.toOpaque())
    if result != 0 { retained.release() }
    return result == 0
  }
}
