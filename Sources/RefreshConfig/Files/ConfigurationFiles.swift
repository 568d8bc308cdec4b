@preconcurrency import Glibc

/// The directories of a configuration, each with `refreshd.toml` and `apps.d/*.toml`.
///
/// A file in a later directory replaces the file of the same name in an earlier directory. A file without keys or a link to
/// `/dev/null` masks the earlier file. `systemd.unit(5)` has the same rules.
public struct ConfigurationSources: Hashable, Sendable {
  /// The directories, lowest precedence first.
  public let directories: [String]
  /// Whether a missing directory is a mistake.
  let mustExist: Bool
  /// A file of `apps.d` that is read as if it were in the last directory; nil for none.
  var draft: ConfigurationFile?

  private init(directories: [String], mustExist: Bool = false) {
    self.directories = directories
    self.mustExist = mustExist
  }

  /// The directories of the system's daemon: the vendor's, this boot's, the administrator's.
  public static let system = ConfigurationSources(directories: ["/usr/lib/refreshd", "/run/refreshd", "/etc/refreshd"])

  /// A single directory, which must exist (`--config DIR`).
  public static func directory(_ path: String) -> ConfigurationSources {
    ConfigurationSources(directories: [path], mustExist: true)
  }

  /// The directories that a daemon reports, lowest precedence first.
  public static func read(_ directories: [String]) -> ConfigurationSources {
    ConfigurationSources(directories: directories)
  }

  /// The directories of a user's daemon: the XDG directories, in the order of user units in `systemd.unit(5)`.
  ///
  /// The order is `$XDG_DATA_DIRS`, `$XDG_RUNTIME_DIR`, `$XDG_CONFIG_HOME`; the last has the highest precedence. By the
  /// XDG Base Directory Specification, an unset variable has its default and a relative path is ignored.
  ///
  /// - Parameters:
  ///   - home: the user's home directory.
  ///   - environment: looks up a variable, by default in the environment of this process.
  /// - Returns: the directories, lowest precedence first; a missing one is not a mistake.
  public static func user(
    home: String, environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }
  ) -> ConfigurationSources {
    func paths(_ name: String, default standard: [String]) -> [String] {
      guard let value = environment(name), !value.isEmpty else { return standard }
      return value.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
    }
    let directories =
      paths("XDG_DATA_DIRS", default: ["/usr/local/share", "/usr/share"]).reversed()
      + paths("XDG_RUNTIME_DIR", default: []).prefix(1)
      + paths("XDG_CONFIG_HOME", default: ["\(home)/.config"]).prefix(1)
    return ConfigurationSources(directories: directories.map { "\($0)/refreshd" })
  }
}

extension ConfigurationSources {
  /// The files that are read besides `apps.d`.
  static let mainNames: Set<String> = ["refreshd.toml", "push.toml"]

  /// The `refreshd.toml` in force; nil for none.
  func mainFile() -> ConfigurationFile? { file(named: "refreshd.toml") }

  /// The file of that name in force; nil for none.
  func file(named name: String) -> ConfigurationFile? {
    directories.reversed().map { ConfigurationFile(folder: $0, name: name) }
      .first { file in
        var status = stat()
        return lstat(file.path, &status) == 0
      }
  }

  /// The files of `apps.d` in force, by name.
  ///
  /// Ignores names without `.toml` and hidden names (editors' swap files).
  func appFiles(_ problems: inout [Problem]) -> [ConfigurationFile] {
    var folders: [String: String] = [:]
    for directory in directories {
      if mustExist, let error = unlistable(directory) { problems.append(error) }
      let folder = "\(directory)/apps.d"
      guard let names = Self.names(in: folder) else {
        if errno != ENOENT, let error = unlistable(folder) { problems.append(error) }
        continue
      }
      for name in names where name.hasSuffix(".toml") { folders[name] = folder }
    }
    if let draft { folders[draft.name] = nil }
    let files = folders.map { ConfigurationFile(folder: $0.value, name: $0.key) } + [draft].compactMap(\.self)
    return files.sorted { $0.name < $1.name }
  }

  /// The names in a folder, without hidden names; nil, with `errno`, if the folder cannot be listed.
  static func names(in folder: String) -> [String]? {
    guard let stream = opendir(folder) else { return nil }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private func unlistable(_ directory: String) -> Problem? {
    guard let stream = opendir(directory) else {
      let reason = String(cString: strerror(errno))
      return Problem(
        file: directory, message: "cannot read the directory: \(reason)",
        remedy: "create it, or let the daemon's user read it")
    }
    closedir(stream)
    return nil
  }

  /// The `apps.d` of the directory with the highest precedence, where people put their files; nil without directories.
  public var appsFolder: String? { directories.last.map { "\($0)/apps.d" } }

  /// Finds the file in force that has a name in `apps.d`, and returns its path; nil for none.
  public func appFile(named name: String) -> String? {
    var problems: [Problem] = []
    return appFiles(&problems).first { $0.name == name }?.path
  }
}

/// A file of a configuration.
struct ConfigurationFile: Hashable {
  /// The most bytes that a file may have.
  ///
  /// The file of a large app has a thousandth of this, so a larger file is a mistake.
  static let longest = 1 << 20

  let folder: String
  let name: String
  /// The text of a file that is not written yet; nil for a file on disk.
  var draft: String?

  var path: String { "\(folder)/\(name)" }

  /// Reads the keys of the document; nil for a file without keys or a device such as `/dev/null`, which only masks other
  /// files.
  func read() throws(Problem) -> [Node.Entry]? {
    if let draft { return try entries(of: draft) }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { throw unreadable(errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw unreadable(errno) }
    switch status.st_mode & S_IFMT {
    // A device has size 0 and reads as empty.
    case S_IFREG, S_IFCHR: break
    default:
      throw Problem(
        file: path, message: "cannot read it: it is not a file", remedy: "replace it with a file, or remove it")
    }
    guard status.st_size <= Self.longest else {
      throw Problem(file: path, message: "cannot read the file: it is larger than 1 MiB", remedy: "make it shorter")
    }
    return try entries(of: descriptor, size: Int(status.st_size))
  }

  /// Whether every user of the machine may read the file.
  var isReadableByAll: Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & 0o004 != 0
  }

  private func entries(of descriptor: Int32, size: Int) throws(Problem) -> [Node.Entry]? {
    let bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: size)
    defer { bytes.deallocate() }
    var count = 0
    while count < size {
      let result = Glibc.read(descriptor, bytes.baseAddress?.advanced(by: count), size - count)
      if result < 0, errno == EINTR { continue }
      guard result >= 0 else { throw unreadable(errno) }
      if result == 0 { break }
      count += result
    }
    guard count > 0 else { return nil }
    return try entries(of: UnsafeBufferPointer(rebasing: bytes[..<count]))
  }

  private func entries(of text: String) throws(Problem) -> [Node.Entry]? {
    let bytes = ContiguousArray(text.utf8.map(CChar.init(bitPattern:)))
    let result = bytes.withUnsafeBufferPointer { document in
      Result { () throws(Problem) in try entries(of: document) }
    }
    return try result.get()
  }

  private func entries(of document: UnsafeBufferPointer<CChar>) throws(Problem) -> [Node.Entry]? {
    do throws(SyntaxError) {
      let entries = try Node.entries(ofDocument: document)
      return entries.isEmpty ? nil : entries
    } catch {
      throw Problem(
        file: path, line: error.line, column: error.column,
        message: "cannot read the file as TOML: \(error.description)", remedy: error.remedy)
    }
  }

  /// Whether the file was removed after its folder was listed: editors and package managers rename files.
  var isGone: Bool {
    var status = stat()
    return draft == nil && lstat(path, &status) != 0 && errno == ENOENT
  }

  private func unreadable(_ error: Int32) -> Problem {
    var status = stat()
    if error == ENOENT, lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
      return Problem(
        file: path, message: "cannot read the file: it is a broken link",
        remedy: "point it to a file, or remove it")
    }
    return Problem(
      file: path, message: "cannot read the file: \(String(cString: strerror(error)))",
      remedy: error == EACCES ? "let the daemon's user read it" : "make it readable, or remove it")
  }
}
