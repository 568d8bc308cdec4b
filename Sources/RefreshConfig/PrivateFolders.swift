@preconcurrency import Glibc

extension Reader {
  /// The directories of temporary files that are private to this process, because its unit has `PrivateTmp=`
  /// (systemd.exec(5)).
  ///
  /// The daemon cannot see the files that tasks write there.
  public static func privateFolders() -> [String] {
    guard let file = fopen("/proc/self/mountinfo", "re") else { return [] }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    var folders: [String] = []
    while getline(&line, &capacity, file) > 0, let line {
      if let folder = privateFolder(inMount: String(cString: line)) { folders.append(folder) }
    }
    return folders
  }

  /// Reads a line of proc_pid_mountinfo(5).
  ///
  /// The fourth field is the mounted directory, the fifth the mount point.
  static func privateFolder(inMount line: String) -> String? {
    let fields = line.split(separator: " ")
    guard fields.count > 4, fields[4] == "/tmp" || fields[4] == "/var/tmp" else { return nil }
    return fields[3].split(separator: "/").contains { $0.hasPrefix("systemd-private-") } ? String(fields[4]) : nil
  }

  /// The reason why the daemon cannot watch a path; nil if it can.
  func refusalToWatch(_ path: String) -> Unreadable? {
    guard let folder = privateFolders.first(where: { path == $0 || path.hasPrefix("\($0)/") }) else { return nil }
    return Unreadable(
      "cannot watch \(quoted(path)): the daemon has a \(folder) of its own",
      remedy: "write a path elsewhere, or PrivateTmp=no with systemctl edit refreshd")
  }
}
