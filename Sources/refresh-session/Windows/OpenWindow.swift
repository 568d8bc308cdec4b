/// A window, with the properties that identify its app; its title is never read.
struct OpenWindow: Hashable, Sendable {
  /// The most windows that are kept of a desktop, and the most bytes of a name.
  static let (most, longestName) = (4096, 256)

  /// The ids of the window, the best first: app id, class, instance.
  var names: [String]
  /// Whether it has the focus.
  var isFocused: Bool
  /// Whether it is minimised.
  var isMinimised: Bool
  /// The process that opened the window; 0 if unknown.
  var process = 0
  /// The desktop id in the name of the process's unit, if the names say less; see ``ProcessUnit``.
  var unit: String?

  /// The desktop id of the app: by the unit if it is set, by the class or program of a desktop file, or else the first own
  /// id.
  func desktopID(_ classes: WindowClasses) -> String? {
    unit ?? names.lazy.compactMap { classes.ids[$0.lowercased()] }.first ?? names.first
  }

  /// The names that do not belong to an interpreter.
  var namesOfItsOwn: [String] { names.filter { !WindowClasses.interpreters.contains($0.lowercased()) } }
}

extension OpenWindow {
  /// Reads a window of the KWin script or the GNOME extension: state 0 minimised, 1 open, 2 focused; nil for another state.
  init?(state: Int, process: Int, names: [String]) {
    guard (0...2).contains(state) else { return nil }
    // Drops a name that is too long, because its beginning could be another app's name.
    let names = names.prefix(8).filter { !$0.isEmpty && $0.utf8.count <= Self.longestName }
    self.init(names: Array(names), isFocused: state == 2, isMinimised: state == 0, process: process)
  }
}
