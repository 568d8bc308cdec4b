/// The desktop ids of window classes, as desktop files have them: by the key `StartupWMClass`, or by the program of `Exec`.
///
/// A toolkit gives the name of its program to the windows of an app that sets no other: those of `org.gnome.Geary` are called
/// `geary` under Wayland.
struct WindowClasses {
  /// The programs whose names toolkits give to windows of the apps that they run.
  static let interpreters: Set = ["electron", "gjs", "java", "node", "perl", "python", "python3", "ruby"]
  /// The most files that are read.
  private static let mostFiles = 4096

  /// The desktop id of each class, in small letters.
  private(set) var ids: [String: String] = [:]
  /// The ids that have a desktop file, in small letters.
  private var known: Set<String> = []

  /// No class is known.
  init() {}

  /// Reads the desktop files of some folders, of which the first are the strongest.
  init(folders: [String]) {
    var left = Self.mostFiles
    var programs: [String: Set<String>] = [:]
    for folder in folders {
      for name in DesktopEntry.files(in: folder, most: left) {
        left -= 1
        let id = String(name.dropLast(".desktop".count))
        // A file masks those of its name in weaker folders, so that a user can mend a wrong class.
        guard known.insert(id.lowercased()).inserted else { continue }
        let entry = DesktopEntry(at: "\(folder)/\(name)")
        if let found = entry["StartupWMClass"]?.lowercased() { ids[found] = ids[found] ?? id }
        guard entry["NoDisplay"] != "true", let program = entry.program?.lowercased() else { continue }
        programs[program, default: []].insert(id)
      }
    }
    for (program, owners) in programs where !known.contains(program) && !Self.interpreters.contains(program) {
      // A program of several apps says nothing of which it is.
      if ids[program] == nil, owners.count == 1 { ids[program] = owners.first }
    }
  }

  /// Whether a name of a window names an app that is installed.
  func know(_ names: [String]) -> Bool {
    names.contains { ids[$0.lowercased()] != nil || known.contains($0.lowercased()) }
  }
}
