@preconcurrency import Glibc

extension Reader {
  /// The directories of temporary files that this process does not share with others, because of `PrivateTmp=` in its
  /// unit (systemd.exec(5)).
  ///
  /// What tasks write there it never sees.
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

  /// Reads a line of proc_pid_mountinfo(5), whose fourth field is the directory that is mounted, and the fifth where.
  static func privateFolder(inMount line: String) -> String? {
    let fields = line.split(separator: " ")
    guard fields.count > 4, fields[4] == "/tmp" || fields[4] == "/var/tmp" else { return nil }
    return fields[3].split(separator: "/").contains { $0.hasPrefix("systemd-private-") } ? String(fields[4]) : nil
  }

  /// Why the daemon cannot see whether what is at a path changes, if it cannot.
  func refusalToWatch(_ path: String) -> Unreadable? {
    guard let folder = privateFolders.first(where: { path == $0 || path.hasPrefix("\($0)/") }) else { return nil }
    return Unreadable(
      message: "cannot watch \(quoted(path)): the daemon has a \(folder) of its own",
      remedy: "write a path elsewhere, or PrivateTmp=no with systemctl edit refreshd")
  }
}
