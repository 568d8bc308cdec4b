@preconcurrency import Glibc
import RefreshEngine

/// The path of a file that a worker writes or reads for an app.
///
/// The worker opens the folders of the path one by one without following symbolic links, so the path must be normal.
public enum TargetPath {
  /// The suffix that refresh-worker adds to the name while it writes the file of a transfer (`PartFile.Kind`).
  public static let transferSuffix = ".part"
  /// The suffix that refresh-worker adds to the name while it writes the file of a task `http` (`PartFile.Kind`).
  public static let fetchSuffix = ".refreshd-part"

  /// Refuses a path that is not absolute, has an empty part, `.` or `..`, ends in a slash, or is too long.
  ///
  /// With `suffix`, the name must leave room for it, and must not end like the names of refreshd's own files.
  public static func check(_ path: String, suffix: String? = nil) throws(Unreadable) {
    guard path.hasPrefix("/") else {
      throw Unreadable(
        "cannot use \(quoted(path)) as a file: the path is not absolute",
        remedy: "begin with a slash")
    }
    guard !path.utf8.contains(where: \.isControl) else {
      throw Unreadable("cannot use a path with a control character", remedy: "choose another name")
    }
    let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard let last = names.last, !last.isEmpty else {
      throw Unreadable(
        "cannot use \(quoted(path)) as a file: the path ends in a slash", remedy: "add the file's name")
    }
    guard names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
      throw Unreadable(
        "cannot use \(quoted(path)) as a file: the path contains an empty part, \".\" or \"..\"",
        remedy: "write the path without it")
    }
    let longest = Int(NAME_MAX) - (suffix?.utf8.count ?? 0)
    guard path.utf8.count < PATH_MAX, last.utf8.count <= longest else {
      throw Unreadable(
        "cannot use a path of \(path.utf8.count) bytes, with a name of \(last.utf8.count)",
        remedy: "use fewer than \(PATH_MAX), and at most \(longest) in the name")
    }
    guard suffix == nil || !last.hasSuffix(fetchSuffix) else {
      throw Unreadable(
        "cannot use \(quoted(path)) as a file: refreshd's own files end in \(fetchSuffix)",
        remedy: "choose another name")
    }
  }
}

/// The folders of `watch`: their bounds, and warnings about missing folders.
enum WatchedPaths {
  /// The most folders of one app.
  static let most = 16

  private enum Look {
    case found
    case missing
    case noFolder
    /// A file system does not answer, or this process may not look.
    case unknown
  }

  /// The warnings about the watched folders of the apps.
  ///
  /// These are not mistakes in a configuration, because a folder may be made or mounted later.
  static func warnings(of configuration: Configuration) -> [Problem] {
    configuration.apps.flatMap { app in
      app.watchedFolders.compactMap { folder in
        warning(folder.name, at: folder.path).map {
          Problem(file: app.file, key: "watch", message: $0.message, remedy: $0.remedy, isWarning: true)
        }
      }
    }
  }

  private static func warning(_ name: String, at path: String) -> Unreadable? {
    switch Patience.ask(about: "the folder \(path)", { look(at: path) }) ?? .unknown {
    case .found, .unknown: nil
    case .missing:
      Unreadable("cannot find the folder \(quoted(name))", remedy: "create it; it is watched from then on")
    case .noFolder:
      Unreadable("cannot watch \(quoted(name)): it is not a folder", remedy: "write the folder that contains it")
    }
  }

  private static func look(at path: String) -> Look {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT ? .missing : errno == ENOTDIR ? .noFolder : .unknown }
    return status.st_mode & S_IFMT == S_IFDIR ? .found : .noFolder
  }
}

extension LoadContext {
  /// A list of different folders, each an absolute path or one from the owner's home.
  var watchedFolders: ValueType<[String]> {
    let folders = ValueType<[String]>.array("~/Notes") { (text) throws(Unreadable) in try self.watchedFolder(text) }
    return ValueType(example: folders.example) { (node, key) throws(Unreadable) in
      guard let names = try folders.read(node, key) else { return nil }
      guard names.count <= WatchedPaths.most else {
        throw Unreadable(
          "cannot watch \(names.count) folders for one app",
          remedy: "write at most \(WatchedPaths.most); the folders inside them are watched too")
      }
      var seen: Set<String> = []
      if let twice = names.first(where: { !seen.insert($0).inserted }) {
        throw Unreadable("cannot watch \(quoted(twice)) twice", remedy: "write it once")
      }
      return names
    }
  }

  private func watchedFolder(_ text: String) throws(Unreadable) -> String {
    if ["/", "~", "~/"].contains(text) {
      throw Unreadable("cannot watch \(quoted(text)): it is too large to watch", remedy: "name folders inside it")
    }
    guard text.isPlainPath else {
      throw Unreadable(
        "cannot watch \(quoted(text)): it is not the absolute path of a folder",
        remedy: #"begin with a slash, or with ~/ for the owner's home, without "..", "." or a final slash"#)
    }
    if let refusal = reader.refusalToWatch(text) { throw refusal }
    return text
  }
}

extension StringProtocol {
  /// Whether the text is an absolute path or begins with `~/`.
  var isPath: Bool { (hasPrefix("/") || hasPrefix("~/")) && !utf8.contains(0) }

  /// Whether the text is such a path in the kernel's form, without a final slash.
  var isPlainPath: Bool {
    isPath && utf8.count < PATH_MAX && !utf8.contains(where: \.isControl)
      && dropFirst(hasPrefix("~/") ? 2 : 1).split(separator: "/", omittingEmptySubsequences: false)
        .allSatisfy { !["", ".", ".."].contains($0) }
  }
}
