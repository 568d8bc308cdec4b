/// A window, as far as it tells which app it is of; its title is never read.
struct OpenWindow: Hashable, Sendable {
  /// The ids that it has, the best first: app id, class, instance.
  var names: [String]
  /// Whether it has the focus.
  var isFocused: Bool
  /// Whether it is minimised.
  var isMinimised: Bool

  /// The desktop id of its app, as desktops find it: by a class that a desktop file names, or else its own id.
  func desktopID(_ classes: WindowClasses) -> String? {
    names.lazy.compactMap { classes.ids[$0.lowercased()] }.first ?? names.first
  }

  /// Whether it is a window of an app with some desktop ids, as desktops match them: by its own ids, without regard to case,
  /// or by the class that a desktop file names.
  func isOf(_ ids: Set<String>, _ classes: WindowClasses) -> Bool {
    if names.contains(where: ids.contains) { return true }
    let small = Set(ids.map { $0.lowercased() })
    return names.contains { name in
      small.contains(name.lowercased()) || classes.ids[name.lowercased()].map(ids.contains) ?? false
    }
  }
}

extension OpenWindow {
  /// The most windows that are kept of a desktop, and the most bytes of a name.
  static let (most, longestName) = (4096, 256)

  /// A window as our parts of KWin and GNOME Shell tell of it: 0 minimised, 1 open, 2 in focus; nil for another state.
  init?(state: Int, names: [String]) {
    guard (0...2).contains(state) else { return nil }
    // A name that is too long counts as none, because a part of it could be another's.
    let names = names.prefix(8).filter { !$0.isEmpty && $0.utf8.count <= Self.longestName }
    self.init(names: Array(names), isFocused: state == 2, isMinimised: state == 0)
  }
}
