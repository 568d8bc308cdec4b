import Glibc

/// The desktop ids of window classes, as the key `StartupWMClass` of desktop files has them.
struct WindowClasses {
  /// The most files that are read, and the most bytes of each.
  private static let (mostFiles, mostBytes) = (4096, 64 << 10)

  /// The desktop id of each class, in small letters.
  private(set) var ids: [String: String] = [:]

  /// No class is known.
  init() {}

  /// Reads the desktop files of some folders, of which the first are the strongest.
  init(folders: [String]) {
    var left = Self.mostFiles
    for folder in folders {
      for name in Self.files(in: folder) where left > 0 {
        left -= 1
        guard let found = Self.windowClass(in: Self.text(of: "\(folder)/\(name)")) else { continue }
        let id = String(name.dropLast(".desktop".count))
        ids[found.lowercased()] = ids[found.lowercased()] ?? id
      }
    }
  }

  /// The value of `StartupWMClass` in the first group of a desktop file; nil if it has none.
  static func windowClass(in text: String) -> String? {
    var isEntry = false
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") {
        guard !isEntry else { return nil }
        isEntry = line == "[Desktop Entry]"
      }
      guard isEntry, line.hasPrefix("StartupWMClass") else { continue }
      let parts = line.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
      if parts.count == 2, parts[0] == "StartupWMClass", !parts[1].isEmpty { return parts[1] }
    }
    return nil
  }

  private static func files(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory), names.count < mostFiles {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name.hasSuffix(".desktop") { names.append(name) }
    }
    return names.sorted()
  }

  /// The beginning of a file; empty if it cannot be read.
  ///
  /// A pipe or a device is no desktop file, and reading it could wait.
  private static func text(of path: String) -> String {
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
