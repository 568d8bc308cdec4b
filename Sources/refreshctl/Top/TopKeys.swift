/// A key of the keyboard.
enum TopKey: Hashable {
  case up, down, pageUp, pageDown, home, end, enter, escape, backspace, redraw
  case character(Character)
}

/// Converts the bytes of a terminal to keys.
///
/// An arrow key sends several bytes that begin with Escape (ECMA-48), so a single Escape is known only after a pause. The
/// caller waits for ``pause`` while ``isUndecided``, and then calls ``decide()``.
struct TopKeys {
  private static let escape: UInt8 = 0x1B
  /// The longest sequence of a key; longer input is not a key.
  private static let mostBytes = 16
  /// The time in milliseconds in which the rest of a sequence follows its Escape, even on a slow line.
  static let pause: Int64 = 100

  private var pending: [UInt8] = []

  /// Whether the last bytes may begin a longer key.
  var isUndecided: Bool { !pending.isEmpty }

  /// The keys that these bytes complete.
  mutating func keys(in bytes: some Sequence<UInt8>) -> [TopKey] {
    var keys: [TopKey] = []
    for byte in bytes {
      // A new Escape ends an incomplete sequence.
      if byte == Self.escape, isUndecided { keys += decide() }
      pending.append(byte)
      switch Self.match(pending) {
      case .incomplete where pending.count < Self.mostBytes: continue
      case .incomplete, .unknown: break
      case .key(let key): keys.append(key)
      }
      pending = []
    }
    return keys
  }

  /// The key of the pending bytes after the pause: Escape, or none.
  mutating func decide() -> [TopKey] {
    defer { pending = [] }
    return pending == [Self.escape] ? [.escape] : []
  }

  private enum Match {
    case key(TopKey), incomplete, unknown
  }

  private static func match(_ bytes: [UInt8]) -> Match {
    guard let first = bytes.first else { return .incomplete }
    if first == escape { return sequence(bytes.dropFirst()) }
    if first >= 0x80 { return character(bytes) }
    switch first {
    case 0x0D, 0x0A: return .key(.enter)
    case 0x7F, 0x08: return .key(.backspace)
    case 0x0C: return .key(.redraw)
    case ..<0x20: return .unknown
    default: return .key(.character(Character(Unicode.Scalar(first))))
    }
  }

  /// Matches a sequence after its Escape: `[A`, `OA`, `[5~`, `[1;2A`.
  private static func sequence(_ bytes: ArraySlice<UInt8>) -> Match {
    guard let kind = bytes.first else { return .incomplete }
    let rest = bytes.dropFirst()
    switch kind {
    case UInt8(ascii: "O"):
      guard let last = rest.first else { return .incomplete }
      return key(last, number: "")
    case UInt8(ascii: "["):
      guard let last = rest.last, last >= 0x40 else { return .incomplete }
      return key(last, number: String(decoding: rest.prefix { $0 >= 0x30 && $0 <= 0x39 }, as: UTF8.self))
    default: return .unknown
    }
  }

  private static func key(_ last: UInt8, number: String) -> Match {
    switch (Character(Unicode.Scalar(last)), number) {
    case ("A", _): .key(.up)
    case ("B", _): .key(.down)
    case ("H", _), ("~", "1"), ("~", "7"): .key(.home)
    case ("F", _), ("~", "4"), ("~", "8"): .key(.end)
    case ("~", "5"): .key(.pageUp)
    case ("~", "6"): .key(.pageDown)
    case ("M", ""): .key(.enter)
    default: .unknown
    }
  }

  /// Matches a character of several bytes in UTF-8.
  private static func character(_ bytes: [UInt8]) -> Match {
    let length = bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2
    guard (0xC2...0xF4).contains(bytes[0]), bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return .unknown }
    guard bytes.count == length else { return .incomplete }
    guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else { return .unknown }
    return .key(.character(character))
  }
}

/// The keys of the live screen, for its help and its last line.
enum TopHelp {
  private static let keys: [(keys: String, meaning: String)] = [
    ("↑ ↓ k j", "select the app above, below; PgUp, PgDn, Home, End go further"),
    ("Enter w", "why the app is or is not refreshed, and when"),
    ("r", "refresh the app now"),
    ("d", "disable the app; again: enable it"),
    ("f", "mark the app as in the foreground; again: in the background"),
    ("p", "pause all apps for the rest of today; again: resume"),
    ("/", "filter by a part of the id or of the name; Enter keeps the filter, Esc ends it"),
    ("?", "this help"),
    ("Ctrl-L", "redraw the screen"),
    ("q Esc", "back to the list; q there: quit"),
  ]

  static func lines(on screen: Screen) -> [String] {
    var facts = Facts()
    for (keys, meaning) in Self.keys { facts.add(keys, meaning) }
    let columns =
      "NEXT is when the app is refreshed next, HELD BY what keeps it from that, LAST how the last refresh ended, "
      + "DATA AGE how long ago one last succeeded."
    return facts.lines(on: screen) + [""] + screen.wrapped(columns)
  }

  /// The keys for the last line; the narrowest terminal shows the needed ones.
  static func hints(_ top: TopState) -> (needed: [String], others: [String]) {
    if top.isFiltering { return (["Enter keep", "Esc end"], ["↑↓ select"]) }
    let pause = top.pause == nil ? "p pause" : "p resume"
    var actions: [String] = []
    if let app = top.subject {
      actions = ["r run", app.isDisabled ? "d enable" : "d disable"]
      actions += [pause, app.phase == .foreground ? "f background" : "f foreground"]
    } else {
      actions = [pause]
    }
    switch top.page {
    case .list: return (["q quit", "? help"], (top.subject == nil ? [] : ["w why"]) + actions + ["/ filter"])
    case .help: return (["q back"], ["↑↓ scroll"])
    case .why: return (["q back"], ["↑↓ scroll"] + actions)
    }
  }
}
