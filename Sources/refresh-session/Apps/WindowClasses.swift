/// The desktop ids of window classes, as the key `StartupWMClass` of desktop files has them.
struct WindowClasses {
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
    for folder in folders {
      for name in DesktopEntry.files(in: folder, most: left) {
        left -= 1
        let id = String(name.dropLast(".desktop".count))
        // A file masks those of its name in weaker folders, so that a user can mend a wrong class.
        guard known.insert(id.lowercased()).inserted else { continue }
        guard let found = DesktopEntry(at: "\(folder)/\(name)")["StartupWMClass"] else { continue }
        ids[found.lowercased()] = ids[found.lowercased()] ?? id
      }
    }
  }

  /// Whether a name of a window names an app that is installed.
  func know(_ names: [String]) -> Bool {
    names.contains { ids[$0.lowercased()] != nil || known.contains($0.lowercased()) }
  }
}
