import RefreshAPI
import RefreshEngine

/// The folders that workers write to, and how each worker is confined to its own.
struct WorkerFolders {
  /// The exit code of the service manager for a view of the file system that it cannot make (systemd.exec(5),
  /// `EXIT_NAMESPACE`).
  private static let noView: Int32 = 226
  private static let most = 1000

  /// The folders that the service manager cannot open, such as those on some network file systems.
  private var unviewable: Set<String> = []

  /// The confinement of a worker that writes to a folder; nil for one that only reads.
  func confinement(to folder: String?) -> WorkerConfinement {
    if let folder, unviewable.contains(folder) { return WorkerConfinement(writes: .all) }
    return WorkerConfinement(writes: .folders(folder.map { [$0] } ?? []))
  }

  /// Notes a worker that ended before it asked for work; its transfers are tried again without a view of their own.
  mutating func noteFailedStart(in folder: String?, _ end: TaskEnd) {
    guard let folder, end.exit == .exited(Self.noView) else { return }
    if unviewable.count >= Self.most { unviewable = [] }
    unviewable.insert(folder)
  }
}

extension Wire.Assignment {
  /// The folder that the transfer changes; nil for one that only reads.
  var writtenFolder: String? {
    guard direction == .download else { return nil }
    let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
    return folder.isEmpty ? "/" : String(folder)
  }
}
