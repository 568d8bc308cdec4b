@preconcurrency import Glibc

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
        "cannot use \(quoted(path)) as the path of a file: it is not a whole path",
        remedy: "begin with a slash")
    }
    guard !path.utf8.contains(where: \.isControl) else {
      throw Unreadable("cannot use a path with a control character", remedy: "write another name")
    }
    let names = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    guard let last = names.last, !last.isEmpty else {
      throw Unreadable(
        "cannot use \(quoted(path)) as the path of a file: it ends in a slash", remedy: "add the file's name")
    }
    guard names.allSatisfy({ !$0.isEmpty && $0 != "." && $0 != ".." }) else {
      throw Unreadable(
        "cannot use \(quoted(path)) as the path of a file: it has an empty part, \".\" or \"..\"",
        remedy: "write the path without it")
    }
    let longest = Int(NAME_MAX) - (suffix?.utf8.count ?? 0)
    guard path.utf8.count < PATH_MAX, last.utf8.count <= longest else {
      throw Unreadable(
        "cannot use a path of \(path.utf8.count) bytes, with a name of \(last.utf8.count)",
        remedy: "write less than \(PATH_MAX), and a name of \(longest) at most")
    }
    guard suffix == nil || !last.hasSuffix(fetchSuffix) else {
      throw Unreadable(
        "cannot use \(quoted(path)) as the path of a file: refreshd's own files end in \(fetchSuffix)",
        remedy: "write another name")
    }
  }
}
