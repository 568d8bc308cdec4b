import Glibc

/// The app of a process, as the unit tells that the process is in.
///
/// It is the last resort for a window whose names are those of a toolkit, such as `python3`.
enum ProcessUnit {
  /// The desktop id in the name of the unit; nil for a process that is gone, of another user's, or in no unit of an app.
  static func desktopID(of process: Int) -> String? {
    guard process > 0 else { return nil }
    return desktopID(inGroups: DesktopEntry.text(of: "/proc/\(process)/cgroup"))
  }

  /// The same for the text of `/proc/PID/cgroup` (cgroups(7)); the innermost unit of an app counts.
  static func desktopID(inGroups text: String) -> String? {
    guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("0::") }) else { return nil }
    return line.dropFirst(3).split(separator: "/").reversed().lazy.compactMap { DesktopUnit.desktopID(of: String($0)) }
      .first
  }
}
