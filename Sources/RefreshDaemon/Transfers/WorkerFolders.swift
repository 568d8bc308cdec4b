import RefreshAPI
import RefreshConfig
import RefreshEngine

/// The folders that workers write to, and how each worker is confined to its own.
final class WorkerFolders {
  /// The exit code of the service manager for a view of the file system that it cannot make (systemd.exec(5),
  /// `EXIT_NAMESPACE`).
  private static let noView: Int32 = 226
  private static let most = 1000

  /// The folders that the service manager cannot open, such as those on some network file systems.
  private(set) var unviewable: Set<String> = []

  /// The confinement of a worker that writes to a folder; nil for one that only reads.
  func confinement(to folder: String?) -> WorkerConfinement {
    if let folder, unviewable.contains(folder) { return WorkerConfinement(writes: .all) }
    return WorkerConfinement(writes: .folders(folder.map { [$0] } ?? []))
  }

  /// Notes a worker that ended before it asked for work, and gives whether it had no view of the file system; its work is
  /// tried again without one.
  @discardableResult
  func noteFailedStart(in folder: String?, _ end: TaskEnd) -> Bool {
    guard let folder, end.exit == .exited(Self.noView) else { return false }
    if unviewable.count >= Self.most { unviewable = [] }
    return unviewable.insert(folder).inserted
  }
}

extension Wire.Assignment {
  /// The folder that the transfer changes; nil for one that only reads.
  var writtenFolder: String? { direction == .download ? folder(of: path) : nil }
}

extension BuiltIn {
  /// The folder that the task changes; nil for one that leaves the work to a transfer.
  var writtenFolder: String? {
    switch work {
    case .fetch: folder(of: file.target)
    case .download: nil
    }
  }
}

private func folder(of path: String) -> String {
  let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
  return folder.isEmpty ? "/" : String(folder)
}
