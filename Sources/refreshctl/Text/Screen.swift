@preconcurrency import Glibc

/// The output device: its width, its colours, and the reader's time and calendar.
struct Screen {
  /// The columns of a terminal; nil for a file or a pipe, where a line may have any length.
  let width: Int?
  let hasColours: Bool
  /// Microseconds of the wall clock.
  let now: Int64
  /// Converts microseconds of the wall clock to the reader's calendar.
  let calendar: (Int64) -> CalendarTime
  /// The lines of a terminal; nil for a file or a pipe, where printed lines cannot be overwritten.
  var height: Int?
  /// Whether the reader's encoding has more than ASCII.
  var isUnicode = true

  /// `in 12 min`, `3 h ago`, `now`.
  func relative(_ microseconds: Int64, brief: Bool = false) -> String {
    let distance = distance(of: microseconds)
    if abs(distance) < 1_000_000 { return "now" }
    let span = Elapsed.rough(abs(distance), brief: brief)
    return distance > 0 ? "in \(span)" : "\(span) ago"
  }

  /// A time, its distance first: `in 12 min (today 12:12)`.
  func relativeAndClock(_ microseconds: Int64) -> String { "\(relative(microseconds)) (\(clock(microseconds)))" }

  /// A time, its distance last: `today 12:12 (in 12 min)`.
  func clockAndRelative(_ microseconds: Int64) -> String { "\(clock(microseconds)) (\(relative(microseconds)))" }

  /// The age of data: `5 h 58 min`.
  func age(of microseconds: Int64, brief: Bool = false) -> String {
    Elapsed.rough(max(0, now - microseconds), brief: brief)
  }

  /// `today 11:48`; with seconds within ten minutes of now.
  func clock(_ microseconds: Int64) -> String {
    clock(microseconds, seconds: abs(distance(of: microseconds)) < 600_000_000)
  }

  /// `today 11:48` or `today 11:48:05`.
  func clock(_ microseconds: Int64, seconds: Bool) -> String {
    calendar(microseconds).text(today: calendar(now), seconds: seconds)
  }

  /// The distance from now, bounded, because a value from another program may be out of range.
  private func distance(of microseconds: Int64) -> Int64 {
    let furthest: Int64 = 1 << 60
    return min(max(-furthest, microseconds), furthest) - now
  }

  /// Paints a text in the colours of a style, if there are colours.
  func paint(_ text: String, _ style: Style) -> String {
    guard hasColours, let code = style.code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

extension Screen {
  /// Reads the properties of a descriptor's device; a terminal has colours unless `NO_COLOR` or `TERM` says otherwise.
  ///
  /// `NO_COLOR` counts if it is set and not empty (no-color.org).
  init(of descriptor: Int32) {
    var size = winsize()
    let isTerminal = isatty(descriptor) == 1
    let isMeasured = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
    let refusesColours = environmentVariable("NO_COLOR") != nil || environmentVariable("TERM") == "dumb"
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    self.init(
      width: isMeasured ? Int(size.ws_col) : nil, hasColours: isTerminal && !refusesColours,
      now: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000, calendar: CalendarTime.local,
      height: isMeasured && size.ws_row > 0 ? Int(size.ws_row) : nil, isUnicode: Charset.isUTF8)
  }
}

/// The meaning of a piece of text, shown by a colour.
enum Style {
  case plain, title, faint, good, bad, wait, plan, selected

  /// The parameter of the escape sequence that selects graphic rendition (ECMA-48, SGR).
  fileprivate var code: String? {
    switch self {
    case .plain: nil
    case .title: "1"
    case .faint: "2"
    case .good: "32"
    case .bad: "31"
    // Yellow, the usual colour, is unreadable on white.
    case .wait: "35"
    case .plan: "36"
    case .selected: "7"
    }
  }
}

/// The value of an environment variable; nil if the variable is not set or empty.
func environmentVariable(_ name: String) -> String? {
  guard let value = getenv(name), value.pointee != 0 else { return nil }
  return String(cString: value)
}

extension Screen {
  /// Formats lines for standard error: on a terminal each is wrapped with its indent; elsewhere lines stay unchanged.
  func message(_ text: String) -> String {
    guard width != nil else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      let indent = String(line.prefix { $0 == " " })
      return wrapped(String(line.dropFirst(indent.count)), within: max(readableWidth - indent.count, 20)).map {
        indent + $0
      }
    }.joined(separator: "\n")
  }

  /// The text, wrapped at ``readableWidth``.
  func wrapped(_ text: String) -> [String] {
    wrapped(text, within: readableWidth)
  }

  /// The width of the screen, at most 100 columns: longer lines are hard to read.
  var readableWidth: Int { min(width ?? 100, 100) }

  /// The text, wrapped at a number of columns; a text that fits stays unchanged.
  func wrapped(_ text: String, within limit: Int) -> [String] {
    guard TextWidth.of(text) > limit else { return [text] }
    var lines: [String] = []
    var used = 0
    for word in text.split(separator: " ").flatMap({ Self.pieces(of: String($0), within: limit) }) {
      let width = TextWidth.of(word.text)
      let gap = word.isContinued ? 0 : 1
      if let line = lines.last, used + gap + width <= limit {
        lines[lines.count - 1] = line + (gap == 0 ? "" : " ") + word.text
        used += gap + width
      } else {
        lines.append(word.text)
        used = width
      }
    }
    return Self.repainted(lines)
  }

  /// A part of a text that is not broken.
  private typealias Piece = (text: String, isContinued: Bool)

  /// Splits a word: between wide characters, such as Chinese or Japanese, a line may break anywhere.
  ///
  /// A long path stays whole: the terminal wraps it, and still copies it whole.
  private static func pieces(of word: String, within limit: Int) -> [Piece] {
    guard TextWidth.of(word) > limit, word.contains(where: { TextWidth.of($0) > 1 }) else { return [(word, false)] }
    var pieces: [Piece] = []
    for character in word {
      if let last = pieces.last, TextWidth.of(character) < 2, last.text.last.map({ TextWidth.of($0) < 2 }) == true {
        pieces[pieces.count - 1].text.append(character)
      } else {
        pieces.append((String(character), !pieces.isEmpty))
      }
    }
    return pieces
  }

  /// Ends a colour at the end of each line and begins it again on the next, so that no indent is painted.
  private static func repainted(_ lines: [String]) -> [String] {
    var open = ""
    return lines.map { line in
      var painted = open + line
      for sequence in line.matches(of: #/\u{1B}\[[0-9;]*m/#) {
        open = sequence.output == "\u{1B}[0m" ? "" : String(sequence.output)
      }
      if !open.isEmpty { painted += "\u{1B}[0m" }
      return painted
    }
  }
}

extension Screen {
  /// Converts a line to the reader's encoding.
  func encoded(_ line: String) -> String {
    isUnicode ? line : Charset.ascii(line, isTerminal: width != nil)
  }
}

/// The encoding of the reader's terminal and files (locale(7)).
enum Charset {
  /// Whether the encoding is UTF-8.
  static let isUTF8: Bool = {
    if let locale = newlocale(1 << LC_CTYPE, "", nil) {
      defer { freelocale(locale) }
      return nl_langinfo_l(nl_item(CODESET), locale).map { String(cString: $0) } == "UTF-8"
    }
    // The locale may not be installed here, as after a login from another machine; its name contains the encoding.
    let name = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap(environmentVariable).first ?? ""
    return name.lowercased().filter { $0 != "-" }.hasSuffix("utf8")
  }()

  /// The signs of this program, each with an ASCII sign of the same width.
  private static let signs: [Character: Character] = [
    "“": "\"", "”": "\"", "…": "~", "—": "-", "×": "x", "·": ".", "↑": "^", "↓": "v", "█": "#", "▌": "=", "░": ".",
    "▁": ".", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "●": "*", "○": "o", "◇": "+", "▶": ">",
    "━": "=", "─": "-", "│": "|", "┬": "+", "┼": "+", "▒": ":", "═": "#", "▲": "^", "◆": "$", "\u{FFFD}": "?",
  ]

  /// Converts a line to ASCII, with the same width.
  ///
  /// If a terminal shows the line (`isTerminal`), it gets a question mark for any other character. A file or a pipe
  /// gets the character itself.
  static func ascii(_ line: String, isTerminal: Bool) -> String {
    line.reduce(into: "") { text, character in
      if character.isASCII {
        text.append(character)
      } else if let sign = signs[character] {
        text.append(sign)
      } else {
        text += isTerminal ? String(repeating: "?", count: TextWidth.of(character)) : String(character)
      }
    }
  }
}

/// Writes the results to standard output, and treats a failed write, as on a full disk, as an error.
enum StandardOutput {
  /// Makes every end of the process fail if not all results were written.
  static func checkAtExit() {
    atexit { StandardOutput.check() }
  }

  /// Flushes the output, so that a reader sees it at once.
  static func flush() {
    if fflush(stdout) != 0 { fail(errno) }
  }

  private static func check() {
    flush()
    // An earlier write failed, and the library has dropped its error number with its text.
    if ferror(stdout) != 0 { fail(nil) }
  }

  /// Ends the process with a message; a reader that has gone, as after `| head -1`, is not an error.
  private static func fail(_ code: Int32?) {
    guard code != EPIPE, !hasLostReader else { return }
    let reason = code.map { ": \(errorText($0))" } ?? ""
    warn("cannot write all results to standard output\(reason); write them elsewhere")
    _exit(ExitStatus.failed.rawValue)
  }

  private static var hasLostReader: Bool {
    var output = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&output, 1, 0) == 1 && output.revents & Int16(POLLERR) != 0
  }
}
