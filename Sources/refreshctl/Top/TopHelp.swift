/// The keys of the live screen, for its help and its last line.
enum TopHelp {
  private static let keys: [(keys: String, meaning: String)] = [
    ("↑ ↓ k j", "select the app above, below; PgUp, PgDn, Home, End go further"),
    ("Enter w", "why the app is refreshed when it is, or is not"),
    ("r", "refresh the app now"),
    ("d", "disable the app; again: enable it"),
    ("f", "mark the app as in the foreground; again: in the background"),
    ("p", "pause all apps for the rest of today; again: resume"),
    ("/", "filter by a part of the id or of the name; Enter keeps the filter, Esc ends it"),
    ("?", "this help"),
    ("Ctrl-L", "draw the screen anew"),
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
