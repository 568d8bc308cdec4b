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
  private let key: ProcessKey
  private unowned let owner: any ProcessOwner
  private let onFirst: () -> Void

  /// Reads from a descriptor on the loop, and closes it in the end.
  ///
  /// Calls `onFirst` before the first bytes, which may never become a whole line. `owner` receives each line that `meter`
  /// admits.
  init(
    _ descriptor: Int32, of key: ProcessKey, on loop: EventLoop, meter: OutputMeters.Meter,
    for owner: any ProcessOwner, onFirst: @escaping () -> Void = {}
  ) throws(SystemdError) {
    (self.descriptor, self.key) = (descriptor, key)
    self.meter = meter
    self.owner = owner
    self.onFirst = onFirst
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
    passNote()
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
    passNote()
    owner.printed(String(decoding: line, as: UTF8.self), by: key)
  }

  private func passNote() {
    if let note = dropped.claimNote() { owner.printed(note, by: key) }
  }
}

/// Splits the bytes that a task prints into lines.
///
/// ``TaskOutput`` reads the bytes from the pipe.
struct OutputLines {
  /// The most bytes that are buffered for a line; longer lines are cut.
  static let lineBound = 2048
  /// The most bytes of the last line that a refresh keeps.
  static let messageBound = 200

  /// Whether the task has printed anything.
  private(set) var hasPrinted = false
  private var partial: [UInt8] = []
  private var last: [UInt8] = []

  /// The last line that is not blank, cut to ``messageBound`` bytes of UTF-8; empty if there is none.
  var message: String { Self.message(of: String(decoding: last, as: UTF8.self)) }

  /// The beginning of a text: at most ``messageBound`` bytes of UTF-8, in whole characters.
  static func message(of text: String) -> String { beginning(of: text, most: messageBound) }

  /// The beginning of a text: at most `bound` bytes of UTF-8, in whole characters.
  static func beginning(of text: String, most bound: Int) -> String {
    // An invalid byte becomes three bytes, so the bound applies to the text.
    guard text.utf8.count > bound else { return text }
    var message = ""
    for character in text {
      guard message.utf8.count + character.utf8.count <= bound else { break }
      message.append(character)
    }
    return message
  }

  /// Receives bytes, and calls `line` with the bytes of each line that they complete.
  mutating func receive(_ bytes: some Collection<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    hasPrinted = hasPrinted || !bytes.isEmpty
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[..<end], line: line)
      flush(line: line)
      rest = rest[rest.index(after: end)...]
    }
    append(rest, line: line)
  }

  /// Calls `line` with the last line if it has no line break.
  mutating func finish(line: (ArraySlice<UInt8>) -> Void) {
    if !partial.isEmpty { flush(line: line) }
  }

  private mutating func append(_ bytes: some Collection<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    partial.append(contentsOf: bytes)
    while partial.count > Self.lineBound {
      // Do not cut within a character: its later bytes are 10xxxxxx, at most three.
      var end = Self.lineBound
      while end > Self.lineBound - 3, partial[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
      give(partial[..<end], line: line)
      partial.removeSubrange(..<end)
    }
  }

  private mutating func flush(line: (ArraySlice<UInt8>) -> Void) {
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    give(partial[...], line: line)
    partial.removeAll(keepingCapacity: true)
  }

  private mutating func give(_ bytes: ArraySlice<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    if bytes.contains(where: { $0 > UInt8(ascii: " ") }) {
      last.removeAll(keepingCapacity: true)
      last.append(contentsOf: bytes.prefix(Self.messageBound + 4))
    }
    line(bytes)
  }
}

/// The allowances of all apps whose tasks have printed something lately.
final class OutputMeters {
  /// The allowance of one app, which its tasks share.
  final class Meter {
    var allowance = OutputAllowance()
  }

  /// How many apps are remembered before idle apps are forgotten.
  private static let bound = 64
  private var meters: [AppID: Meter] = [:]

  /// The meter of an app.
  func meter(of app: AppID, at now: Int64) -> Meter {
    if let known = meters[app] { return known }
    if meters.count >= Self.bound { meters = meters.filter { !$1.allowance.isFull(at: now) } }
    let meter = Meter()
    meters[app] = meter
    return meter
  }
}

/// The lines that were dropped in one place, since the last note about them.
struct DroppedLines {
  private(set) var lines = 0
  private var bytes = 0

  /// Counts a line of so many bytes, with its line break.
  mutating func add(_ count: Int) {
    lines += 1
    bytes += count + 1
  }

  /// The sentence about the lines, which are not counted any more; nil without any.
  mutating func claimNote() -> String? {
    guard lines > 0 else { return nil }
    defer { self = DroppedLines() }
    return "refreshd dropped \(lines) lines (\(bytes) bytes) of output here: an app may print \(OutputAllowance.rule)"
  }
}

/// How much may still be written about one app: two token buckets, of lines and of bytes.
///
/// The output of its tasks has one allowance, and the daemon's entries about it another (``EntryAllowances``).
///
/// An app that has used up its allowance is refused until a quarter has come back, so that notes about dropped lines stay
/// few.
struct OutputAllowance {
  /// The lines that an app may print at once, and again within ``span``.
  ///
  /// Far below the rate that journald allows one service by default (10,000 in 30 s), so that no app uses up the others'
  /// share.
  static let lines = 1000.0
  /// The bytes that an app may print at once, and again within ``span``.
  static let bytes = Double(1 << 20)
  /// How long a full allowance takes to come back, in microseconds.
  static let span = 30_000_000.0

  private var lines = Self.lines
  private var bytes = Self.bytes
  private var updated: Int64?
  private var isOpen = true

  /// Whether a line may pass now, boot clock in microseconds.
  mutating func admits(_ count: Int, at now: Int64) -> Bool {
    refill(at: now)
    if isOpen, lines >= 1, bytes >= Double(count) {
      lines -= 1
      bytes -= Double(count)
      return true
    }
    isOpen = false
    return false
  }

  /// Whether lines are dropped at present.
  var isSpent: Bool { !isOpen }

  /// Whether the app has printed nothing for so long that it can be forgotten.
  mutating func isFull(at now: Int64) -> Bool {
    refill(at: now)
    return lines == Self.lines && bytes == Self.bytes
  }

  /// The bound in words.
  static var rule: String {
    "\(Int(Self.lines)) lines or \(Int(Self.bytes) >> 20) MiB in \(Int(Self.span) / 1_000_000) s"
  }

  private mutating func refill(at now: Int64) {
    defer { updated = now }
    guard let updated, now > updated else { return }
    let share = Double(now - updated) / Self.span
    lines = min(Self.lines, lines + share * Self.lines)
    bytes = min(Self.bytes, bytes + share * Self.bytes)
    if lines >= Self.lines / 4, bytes >= Self.bytes / 4 { isOpen = true }
  }
}
