import Glibc

/// A thread that no other thread joins.
public final class DetachedThread {
  private let body: () -> Void

  private init(_ body: @escaping () -> Void) { self.body = body }

  /// Runs `body` on a new thread that gets no signals, because the main thread handles them.
  ///
  /// - Parameters:
  ///   - stackBytes: the address space of the stack; nil for the system's default.
  ///   - body: the work of the thread, which ends with it.
  /// - Returns: 0, or an error number when the machine can start no thread.
  public static func begin(stackBytes: Int? = nil, _ body: sending @escaping () -> Void) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
    let retained = Unmanaged.passRetained(DetachedThread(body))
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { context in
        guard let context else { return nil }
        let thread = Unmanaged<DetachedThread>.fromOpaque(context).takeRetainedValue()
        var all = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, nil)
        thread.body()
        return nil
      }, retained.toOpaque())
    if result != 0 { retained.release() }
    return result
  }
}
