import Glibc
import Testing

private final class Call {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

/// Runs `body` on a thread of its own and waits for it.
func onAnotherThread<Value>(_ body: @escaping () -> Value) throws -> Value {
  var value: Value?
  let call = Call { value = body() }
  var thread = pthread_t()
  let started = pthread_create(
    &thread, nil,
    { context in
      if let context { Unmanaged<Call>.fromOpaque(context).takeUnretainedValue().body() }
      return nil
    }, Unmanaged.passUnretained(call).toOpaque())
  if started == 0 { pthread_join(thread, nil) }
  return try withExtendedLifetime(call) { try #require(value, "cannot start a thread: \(started)") }
}
