import Glibc
import RefreshEngine
import Systemd

/// Reads a task's standard output and standard error from a pipe.
///
/// Reads one buffer in each turn of the loop, and passes on as many lines as the app may print. While the allowance is used
/// up, reads the pipe at intervals, so that a task that prints without end costs others almost nothing.
final class TaskOutput {
  /// The most bytes to read in one turn of the loop, which bounds the lines of a turn.
  private static let bufferSize = 8192
  /// The most bytes to read after a task's end: the usual capacity of a pipe (pipe(7)).
  private static let drainBound = 65_536
  /// The time between two reads while lines are dropped, in microseconds.
  private static let pause: Int64 = 2_000

  private var lines = OutputLines()
  private let descriptor: Int32
  private let meter: OutputMeters.Meter
  /// The lines of this task that the meter, which the tasks of an app share, did not admit.
  private var dropped = DroppedLines()
  private var source: IOSource?
  private var resume: TimerSource?
  private let onFirst: () -> Void
  private let onLine: (String) -> Void

  /// Reads from a descriptor on the loop, and closes it in the end.
  ///
  /// Calls `onFirst` before the first bytes, which may never become a whole line, and `onLine` with each line that
  /// `meter` admits.
  init(
    _ descriptor: Int32, on loop: EventLoop, meter: OutputMeters.Meter, onFirst: @escaping () -> Void = {},
    onLine: @escaping (String) -> Void
  ) throws(SystemdError) {
    self.descriptor = descriptor
    self.meter = meter
    self.onFirst = onFirst
    self.onLine = onLine
    resume = try loop.timer { [unowned self] in source?.events = .readable }
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
      if read() == 0 { return source = nil }
      if meter.allowance.isSpent { pauseReading() }
    }
  }

  deinit {
    resume?.cancel()
    source = nil
    close(descriptor)
  }

  /// Whether the task has printed anything so far.
  var hasPrinted: Bool { lines.hasPrinted }
  /// The last line so far, as ``OutputLines/message``.
  var message: String { lines.message }

  /// Reads the rest of the pipe without waiting for more.
  func drain() {
    if source != nil {
      source = nil
      var left = Self.drainBound
      while left > 0, let count = read(), count > 0 { left -= count }
    }
    lines.finish(line: pass)
    if let note = dropped.claimNote() { onLine(note) }
  }

  private func pauseReading() {
    source?.events = []
    resume?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 2)
  }

  /// The number of bytes read; 0 at the end, nil if there are none now.
  private func read() -> Int? {
    withUnsafeTemporaryAllocation(byteCount: Self.bufferSize, alignment: 1) { buffer in
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      guard count >= 0 else { return errno == EAGAIN || errno == EINTR ? nil : 0 }
      if count > 0, !lines.hasPrinted { onFirst() }
      lines.receive(buffer[..<count], line: pass)
      return count
    }
  }

  private func pass(_ line: ArraySlice<UInt8>) {
    guard meter.allowance.admits(line.count, at: EventLoop.bootMicroseconds()) else { return dropped.add(line.count) }
    if let note = dropped.claimNote() { onLine(note) }
    onLine(String(decoding: line, as: UTF8.self))
  }
}
