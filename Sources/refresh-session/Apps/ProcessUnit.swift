import Glibc

/// Finds the app of a process by its unit.
///
/// It is the last resort for a window that has only the name of a toolkit, such as `python3`.
enum ProcessUnit {
  /// The desktop id in the unit's name; nil if the process is gone, is another user's, or is in no unit of an app.
  static func desktopID(of process: Int) -> String? {
    guard process > 0 else { return nil }
    return desktopID(inGroups: DesktopEntry.text(of: "/proc/\(process)/cgroup"))
  }

  /// The desktop id in the text of `/proc/PID/cgroup` (cgroups(7)); the innermost unit of an app counts.
  static func desktopID(inGroups text: String) -> String? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
    return line.dropFirst(3).split(separator: "/").reversed().lazy.compactMap { DesktopUnit.desktopID(of: String($0)) }
      .first
  }
}
