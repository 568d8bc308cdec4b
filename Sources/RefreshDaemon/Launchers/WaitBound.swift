import Glibc
import Systemd

/// The instant at which the daemon, at its start, no longer waits for what a daemon before it left.
struct WaitBound {
  private let end: Int64

  /// A bound this long from now, boot clock.
  init(_ seconds: Int64) {
    end = EventLoop.bootMicroseconds() + seconds * 1_000_000
  }

  /// Waits, without the loop, for an event of `poll(2)`; false when the bound is reached first.
  func wait(for events: Int16, on descriptor: Int32) -> Bool {
    let left = max(0, end - EventLoop.bootMicroseconds())
    var descriptor = pollfd(fd: descriptor, events: events, revents: 0)
    // Rounded up: the last wait ends after the bound, not just before it.
    return poll(&descriptor, 1, Int32((left + 999) / 1000)) > 0
  }
}
