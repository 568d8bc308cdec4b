import Glibc

/// A thread that nobody waits for.
public final class DetachedThread: Sendable {
  private let body: @Sendable () -> Void

  private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  /// Runs `body` on a new thread that gets no signals; false when the machine has no thread to give.
  ///
  /// - Parameter stackBytes: address space of the stack.
  public static func begin(stackBytes: Int, _ body: @escaping @Sendable () -> Void) -> Bool {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, stackBytes)
    let retained = Unmanaged.passRetained(DetachedThread(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        guard let context else { return nil }
        let thread = Unmanaged<DetachedThread>.fromOpaque(context).takeRetainedValue()
        // Signals belong to the event loop's thread.
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        thread.body()
        return nil
      }, retained.toOpaque())
    if result != 0 { retained.release() }
    return result == 0
  }
}
