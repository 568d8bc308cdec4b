import Glibc
import RefreshEngine
import Systemd

/// Reads a task's standard output and standard error from a pipe.
///
/// Reads one buffer in each turn of the loop, so that a task that prints without end does not starve others.
final class TaskOutput {
  /// The size of a buffer: the usual capacity of a pipe (pipe(7)).
  private static let bufferSize = 65_536
  /// The most bytes that are read after a task's end: the capacity of the largest pipe.
  private static let drainBound = 1 << 20

  private var lines = OutputLines()
  private let descriptor: Int32
  private var source: IOSource?
  private let onFirst: () -> Void
  private let onLine: (String) -> Void

  /// Reads from a descriptor on the loop, and closes it in the end.
  ///
  /// Calls `onFirst` before the first bytes, which may never become a whole line, and `onLine` with each line.
  init(
    _ descriptor: Int32, on loop: EventLoop, onFirst: @escaping () -> Void = {}, onLine: @escaping (String) -> Void
  ) throws(SystemdError) {
    self.descriptor = descriptor
    self.onFirst = onFirst
    self.onLine = onLine
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
      if read() == 0 { source = nil }
    }
  }

  deinit {
    source = nil
    close(descriptor)
  }

  /// Whether the task has printed anything so far.
  var hasPrinted: Bool { lines.hasPrinted }
  /// The last line so far, as ``OutputLines/message``.
  var message: String { lines.message }

  /// Reads the rest of the pipe without waiting for more.
  func drain() {
    guard source != nil else { return lines.finish(line: onLine) }
    source = nil
    var left = Self.drainBound
    while left > 0, let count = read(), count > 0 { left -= count }
    lines.finish(line: onLine)
  }

  /// The number of bytes read; 0 at the end, nil if there are none now.
  private func read() -> Int? {
    withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 1) { buffer in
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : 0 }
      if count > 0, !lines.hasPrinted { onFirst() }
      lines.receive(buffer[..<count], line: onLine)
      return count
    }
  }
}
