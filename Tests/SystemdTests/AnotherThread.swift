import Glibc
import Testing

private final class Call {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

/// Runs `body` on a thread of its own.
///
/// A loop that waits for the global thread pool must not block one of the pool's few threads.
func onAnotherThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let call = Call { continuation.resume(with: Result { try body() }) }
    var thread = pthread_t()
    let started = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Call>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(call).toOpaque())
    if started == 0 { pthread_detach(thread) } else { Issue.record("cannot start a thread: \(started)") }
  }
}
