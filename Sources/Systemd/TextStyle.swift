import Glibc

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
