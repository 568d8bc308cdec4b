import Glibc

/// A look at a path, on a thread of its own.
///
/// A thread that hangs in the kernel cannot be ended, only forgotten: it may not be one that others wait for.
final class LookThread: Sendable {
  /// Address space of a thread's stack; a walk needs a tenth of it.
  private static let stackBytes = 256 * 1024

  private let look: @Sendable () -> Void

  private init(_ look: @escaping @Sendable () -> Void) { self.look = look }

  /// Begins a look, which hands over its answer itself; false when the machine has no thread to give.
  static func begin(_ look: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let retained = Unmanaged.passRetained(LookThread(look))
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
        thread.look()
        return nil
      }, retained.toOpaque())
    if result != 0 { retained.release() }
    return result == 0
  }
}
