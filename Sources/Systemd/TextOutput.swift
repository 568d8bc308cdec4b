import Glibc
import Synchronization

/// Writes lines to a terminal, a file or a pipe, without waiting for a reader that has stopped.
///
/// A pipe whose reader has stopped is full after 64 KiB, and then a write blocks. This class waits ``patience`` for a slow
/// reader. Then it keeps lines until the reader reads again. It drops and counts lines beyond the bound, and a later line
/// reports their number.
final class TextOutput: Sendable {
  /// The most bytes that are kept while the reader has stopped.
  static let keptBytes = 1 << 20
  /// The longest wait of a write for the reader, in milliseconds; later writes do not wait until it reads again.
  static let patience: Int32 = 20
  /// The bytes that a writable pipe accepts at once (PIPE_BUF in pipe(7)).
  private static let portion = 4096

  private struct State {
    var kept: [UInt8] = []
    var dropped = 0
    var hasStopped = false
  }

  private let descriptor: Int32
  /// The descriptor that this object opened and closes at its end; nil if it uses the caller's.
  private let own: Int32?
  private let state = Mutex(State())

  /// Makes an output for a descriptor, which the caller still owns.
  init(descriptor: Int32) {
    own = Self.openTerminal(descriptor)
    self.descriptor = own ?? descriptor
  }

  deinit { if let own { close(own) } }

  /// Opens the terminal of a descriptor again, without blocking; nil for no terminal, or if it may not be opened.
  ///
  /// A terminal is ready as soon as it has room for one byte, and a longer write would block. The descriptor itself stays
  /// unchanged, because a shell may share it.
  private static func openTerminal(_ descriptor: Int32) -> Int32? {
    guard isatty(descriptor) == 1 else { return nil }
    let opened = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return opened < 0 ? nil : opened
  }

  /// Writes a line with its end, keeps it, or drops and counts it.
  func write(_ line: String) {
    state.withLock { state in
      flush(&state)
      if state.dropped == 0, state.kept.count + line.utf8.count <= Self.keptBytes {
        state.kept += line.utf8
      } else {
        state.dropped += 1
      }
      flush(&state)
    }
  }

  private func flush(_ state: inout State) {
    drain(&state)
    guard state.kept.isEmpty, state.dropped > 0 else { return }
    state.kept += "warning: \(state.dropped) lines are missing here: nobody read them in time\n".utf8
    state.dropped = 0
    drain(&state)
  }

  private func drain(_ state: inout State) {
    var sent = 0
    while sent < state.kept.count, isReady(&state) {
      let part = state.kept[sent...].prefix(Self.portion)
      let count = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        state.hasStopped = true
        break
      }
      // There is no other place to report an error.
      sent = count > 0 ? sent + count : state.kept.count
    }
    state.kept.removeFirst(sent)
  }

  /// Whether a write would not block, or would fail at once.
  private func isReady(_ state: inout State) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    state.hasStopped = poll(&watched, 1, state.hasStopped ? 0 : Self.patience) == 0
    return !state.hasStopped
  }
}

/// The format of an entry as text.
struct TextStyle: Hashable, Sendable {
  /// Whether the line starts with the wall time: a file or a service manager adds its own.
  var showsTime = false
  /// Whether the priority has a colour.
  var hasColour = false

  /// A plain line.
  init(showsTime: Bool = false, hasColour: Bool = false) {
    self.showsTime = showsTime
    self.hasColour = hasColour
  }

  /// The style for a descriptor; a terminal has colours unless `$NO_COLOR` is set.
  init(of descriptor: Int32) {
    let isTerminal = isatty(descriptor) == 1
    let refusesColour = getenv("NO_COLOR").map { $0.pointee != 0 } ?? false
    self.init(showsTime: isTerminal, hasColour: isTerminal && !refusesColour)
  }

  /// The entry as a line, for example "warning: cannot write the store: No space left on device".
  ///
  /// Further lines of a message are indented. Control characters and invisible characters become "\u{FFFD}", because a
  /// task's output could otherwise control the terminal, or look like another line.
  func line(of entry: JournalEntry) -> String {
    var line = showsTime ? Self.time() + " " : ""
    if let (word, colour) = Self.word(for: entry.priority) {
      line += hasColour ? "\u{1B}[\(colour)m\(word):\u{1B}[0m " : "\(word): "
    }
    guard entry.message.utf8.contains(where: { $0 < 0x20 || $0 > 0x7E }) else { return line + entry.message + "\n" }
    for scalar in entry.message.unicodeScalars {
      switch scalar {
      case "\n": line += "\n  "
      case "\t": line += "\t"
      case _ where scalar.properties.generalCategory == .control || scalar.isInvisible: line += "\u{FFFD}"
      default: line.unicodeScalars.append(scalar)
      }
    }
    return line + "\n"
  }

  /// The word for a priority and its colour in SGR numbers; nil for a normal entry.
  private static func word(for priority: JournalEntry.Priority) -> (String, Int)? {
    switch priority {
    case .critical: ("critical", 31)
    case .error: ("error", 31)
    case .warning: ("warning", 33)
    case .notice, .info: nil
    case .debug: ("debug", 2)
    }
  }

  /// The current wall time, such as "09:41:07".
  private static func time() -> String {
    var now = time_t(EventLoop.wallMicroseconds() / 1_000_000)
    var local = tm()
    localtime_r(&now, &local)
    return [local.tm_hour, local.tm_min, local.tm_sec]
      .map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }
}

extension Unicode.Scalar {
  /// Whether it changes the writing direction, breaks a line, or shows nothing; U+200D joins emoji.
  fileprivate var isInvisible: Bool {
    switch properties.generalCategory {
    case .format: self != "\u{200D}"
    case .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension JournalEntry {
  /// The message for the journal, whose readers show control characters as such, but not those that are invisible.
  var visibleMessage: String {
    guard message.utf8.contains(where: { $0 > 0x7E }), message.unicodeScalars.contains(where: \.isInvisible) else {
      return message
    }
    return String(String.UnicodeScalarView(message.unicodeScalars.map { $0.isInvisible ? "\u{FFFD}" : $0 }))
  }
}
