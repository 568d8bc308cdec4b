import Glibc
import Systemd

/// The instant at which a starting daemon stops waiting for the tasks of a previous daemon.
struct WaitBound {
  private let end: Int64

  /// A bound this many seconds from now, on the boot clock.
  init(_ seconds: Int64) {
    end = EventLoop.bootMicroseconds() + seconds * 1_000_000
  }

  /// Waits for an event of poll(2) without the loop; false if the bound comes first.
  func wait(for events: Int16, on descriptor: Int32) -> Bool {
    let left = max(0, end - EventLoop.bootMicroseconds())
    var descriptor = pollfd(fd: descriptor, events: events, revents: 0)
    // Rounded up, so that the last wait does not end just before the bound.
    return poll(&descriptor, 1, Int32((left + 999) / 1000)) > 0
  }
}
