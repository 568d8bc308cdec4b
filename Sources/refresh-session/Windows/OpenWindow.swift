/// A window, as far as it tells which app it is of; its title is never read.
struct OpenWindow: Hashable, Sendable {
  /// The most windows that are kept of a desktop, and the most bytes of a name.
  static let (most, longestName) = (4096, 256)

  /// The ids that it has, the best first: app id, class, instance.
  var names: [String]
  /// Whether it has the focus.
  var isFocused: Bool
  /// Whether it is minimised.
  var isMinimised: Bool
  /// The process that opened it; 0 if it is not told.
  var process = 0
  /// The desktop id in the name of the unit that its process is in, where its names say less; see ``ProcessUnit``.
  var unit: String?

  /// The desktop id of its app, as desktops find it: by its unit where that decides, by a class or a program that a desktop
  /// file names, or else its own id.
  func desktopID(_ classes: WindowClasses) -> String? {
    unit ?? names.lazy.compactMap { classes.ids[$0.lowercased()] }.first ?? names.first
  }

  /// The names that are not those of an interpreter.
  var namesOfItsOwn: [String] { names.filter { !WindowClasses.interpreters.contains($0.lowercased()) } }
}

extension OpenWindow {
  /// A window as our parts of KWin and GNOME Shell tell of it: 0 minimised, 1 open, 2 in focus; nil for another state.
  init?(state: Int, process: Int, names: [String]) {
    guard (0...2).contains(state) else { return nil }
    // A name that is too long counts as none, because a part of it could be another's.
    let names = names.prefix(8).filter { !$0.isEmpty && $0.utf8.count <= Self.longestName }
    self.init(names: Array(names), isFocused: state == 2, isMinimised: state == 0, process: process)
  }
}
