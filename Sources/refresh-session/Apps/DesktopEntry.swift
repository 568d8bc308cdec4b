import Glibc

/// The first group of a desktop file (Desktop Entry Specification 1.5).
struct DesktopEntry {
  /// The most bytes that are read of a file.
  private static let mostBytes = 64 << 10

  private var values: [Substring: String] = [:]

  /// Reads a file; an unreadable file has no keys.
  init(at path: String) { self.init(text: Self.text(of: path)) }

  /// Reads the text of a file.
  init(text: String) {
    var isEntry = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") {
        guard !isEntry else { return }
        isEntry = line == "[Desktop Entry]"
      }
      guard isEntry, !line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
      let (key, value) = (line[..<equals].trimmed, line[line.index(after: equals)...].trimmed)
      if values[key] == nil, !value.isEmpty { values[key] = String(value) }
    }
  }

  /// The value of a key; nil if there is none.
  subscript(key: Substring) -> String? { values[key] }

  /// The program and arguments of `Exec` without the field codes; nil if `Exec` is missing or malformed.
  var command: [String]? {
    guard let line = values["Exec"] else { return nil }
    var words: [String] = []
    var word: String?
    var isQuoted = false
    var rest = line[...]
    while let next = rest.popFirst() {
      switch next {
      case "\"":
        isQuoted.toggle()
        word = word ?? ""
      case "\\" where isQuoted:
        guard let escaped = rest.popFirst() else { return nil }
        word?.append(escaped)
      case " " where !isQuoted:
        words += [word].compactMap(\.self)
        word = nil
      case "%":
        // A field code is a placeholder for a file, an icon or a name, and none is given here; %% is a percent sign.
        if rest.popFirst() == "%" { word = (word ?? "") + "%" }
      default: word = (word ?? "") + String(next)
      }
    }
    words += [word].compactMap(\.self)
    return isQuoted || words.isEmpty ? nil : words
  }

  /// The program that `Exec` starts, for a Flatpak the one in the sandbox; nil without a usable `Exec`.
  var program: String? {
    guard let command, let path = command.first else { return nil }
    let name = Self.lastPart(of: path)
    let option = "--command="
    guard name == "flatpak", let inner = command.first(where: { $0.hasPrefix(option) }) else { return name }
    return Self.lastPart(of: String(inner.dropFirst(option.count)))
  }

  private static func lastPart(of path: String) -> String? { path.split(separator: "/").last.map(String.init) }

  /// The names of the desktop files in a folder, sorted.
  static func files(in folder: String, most: Int) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while names.count < most, let entry = readdir(directory) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasSuffix(".desktop") { names.append(name) }
    }
    return names.sorted()
  }

  /// The beginning of a file; empty if the file is unreadable.
  ///
  /// Reads no pipe and no device, because the read could block.
  static func text(of path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return "" }
    let bytes = [UInt8](unsafeUninitializedCapacity: mostBytes) { buffer, count in
      count = max(0, read(descriptor, buffer.baseAddress, mostBytes))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Substring {
  /// The text without spaces at its ends.
  fileprivate var trimmed: Substring {
    let start = drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return start[...last]
  }
}

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
