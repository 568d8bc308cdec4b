/// The rules for an app on its user's desktops: its names there, and its phase.
public struct DesktopRules: Hashable, Sendable {
  /// The desktop ids of the app's windows, units and bus names, without `.desktop`; empty for the app's own id.
  public var ids: [String] = []
  /// The state of a window that puts the app in front; the focus by default.
  public var front = FrontRule.focused
  /// The source of the app's phase; the desktop by default, until the app signals.
  public var lifecycle = LifecycleSource.desktop

  /// The most desktop ids of an app.
  static let mostIDs = 8

  /// Reads the key `desktop`.
  static func ids(from section: inout Section) -> [String] {
    let type = ValueType.array("org.gnome.Geary") { (text) throws(Unreadable) in try checkedID(text) }
    let ids = section.read("desktop", type) ?? []
    if ids.count > mostIDs {
      section.refuse(
        "desktop", "cannot look out for \(ids.count) desktop ids of one app", remedy: "write at most \(mostIDs)")
    }
    return ids
  }

  private static func checkedID(_ text: String) throws(Unreadable) -> String {
    let id = text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    guard (1...255).contains(id.utf8.count), !id.utf8.contains(where: \.isControl), !id.contains("/") else {
      throw Unreadable(
        "cannot take \(quoted(text)) as a desktop id",
        remedy: "write an id that refresh-session --list prints, without a slash, of 1 to 255 bytes")
    }
    return id
  }
}

/// The state of a window that puts its app in front: the values of `front`.
public enum FrontRule: String, Hashable, Sendable, CaseIterable {
  /// A window of the app has the focus.
  case focused
  /// A window of the app is open and not minimised, such as a dashboard on a second screen.
  case open
}

/// The source of an app's phase: the values of `lifecycle`.
public enum LifecycleSource: String, Hashable, Sendable, CaseIterable {
  /// The user's desktops, for an app that sends no signals.
  case desktop
  /// Only the app's signals and leases.
  case signals
}
