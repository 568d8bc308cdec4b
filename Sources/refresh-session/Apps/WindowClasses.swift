/// Maps window classes to desktop ids by desktop files: by the key `StartupWMClass`, or by the program of `Exec`.
///
/// A toolkit names windows after the program if the app sets no other name: under Wayland, the windows of `org.gnome.Geary`
/// are called `geary`.
struct WindowClasses {
  /// The programs after which toolkits name the windows of the apps that they run.
  static let interpreters: Set = ["electron", "gjs", "java", "node", "perl", "python", "python3", "ruby"]
  /// The most files that are read.
  private static let mostFiles = 4096

  /// The desktop id of each class, in lower case.
  private(set) var ids: [String: String] = [:]
  /// The ids that have a desktop file, in lower case.
  private var known: Set<String> = []

  /// Makes an empty map.
  init() {}

  /// Reads the desktop files of folders; earlier folders take precedence.
  init(folders: [String]) {
    var left = Self.mostFiles
    var programs: [String: Set<String>] = [:]
    for folder in folders {
      for name in DesktopEntry.files(in: folder, most: left) {
        left -= 1
        let id = String(name.dropLast(".desktop".count))
        // A file masks files of the same name in later folders, so that a user can correct a class.
        guard known.insert(id.lowercased()).inserted else { continue }
        let entry = DesktopEntry(at: "\(folder)/\(name)")
        if let found = entry["StartupWMClass"]?.lowercased() { ids[found] = ids[found] ?? id }
        guard entry["NoDisplay"] != "true", let program = entry.program?.lowercased() else { continue }
        programs[program, default: []].insert(id)
      }
    }
    for (program, owners) in programs where !known.contains(program) && !Self.interpreters.contains(program) {
      // The program of several apps does not identify an app.
      if ids[program] == nil, owners.count == 1 { ids[program] = owners.first }
    }
  }

  /// Whether one of a window's names belongs to an installed app.
  func know(_ names: [String]) -> Bool {
    names.contains { ids[$0.lowercased()] != nil || known.contains($0.lowercased()) }
  }
}
