import Glibc

@testable import Systemd

/// What a turn of a test's loop gives when the awaited event did not come in time.
let late: Int32 = 99

extension EventLoop {
  /// Turns until a handler ends the loop, at most for five seconds: then the code is ``late``.
  func turn() throws -> Int32 {
    let bound = try timer { self.exit(late) }
    bound.arm(at: Self.bootMicroseconds() + 5_000_000, accuracy: 1)
    defer { bound.cancel() }
    return try run()
  }
}
