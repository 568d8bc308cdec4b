import Glibc

@testable import Systemd

/// The exit code of a test's loop when the expected event did not come in time.
let late: Int32 = 99

extension EventLoop {
  /// Runs the loop until a handler ends it; after five seconds the code is ``late``.
  func turn() throws -> Int32 {
    let bound = try timer { self.exit(late) }
    bound.arm(at: Self.bootMicroseconds() + 5_000_000, accuracy: 1)
    defer { bound.cancel() }
    return try run()
  }
}
