@preconcurrency import Glibc
import RefreshEngine

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
  /// They are no mistakes of a configuration, because a folder may be made or mounted later.
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
      Unreadable("cannot find the folder \(quoted(name))", remedy: "make it; it is watched from then on")
    case .noFolder:
      Unreadable("cannot watch \(quoted(name)): it is no folder", remedy: "write the folder that it is in")
    }
  }

  private static func look(at path: String) -> Look {
    var status = stat()
    guard stat(path, &status) == 0 else { return errno == ENOENT ? .missing : errno == ENOTDIR ? .noFolder : .unknown }
    return status.st_mode & S_IFMT == S_IFDIR ? .found : .noFolder
  }
}

extension LoadContext {
  /// A list of folders that differ, each with its whole path or from the owner's home.
  var watchedFolders: ValueType<[String]> {
    let folders = ValueType<[String]>.array("~/Notes") { (text) throws(Unreadable) in try self.watchedFolder(text) }
    return ValueType(example: folders.example) { (node, key) throws(Unreadable) in
      guard let names = try folders.read(node, key) else { return nil }
      guard names.count <= WatchedPaths.most else {
        throw Unreadable(
          "cannot watch \(names.count) folders for one app",
          remedy: "write at most \(WatchedPaths.most); the folders below each are watched too")
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
      throw Unreadable("cannot watch \(quoted(text)): it is too much to watch", remedy: "name folders in it")
    }
    guard text.isPlainPath else {
      throw Unreadable(
        "cannot watch \(quoted(text)): it is not the whole path of a folder",
        remedy: #"begin with a slash, or with ~/ for the owner's home, and leave out "..", "." and a slash at the end"#)
    }
    if let refusal = reader.refusalToWatch(text) { throw refusal }
    return text
  }
}
