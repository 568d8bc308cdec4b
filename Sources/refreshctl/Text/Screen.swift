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
