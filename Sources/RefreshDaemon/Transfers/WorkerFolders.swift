import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine

/// The folders that workers write to, and the confinement of each worker to its folder.
final class WorkerFolders {
  /// The exit code of the service manager if it cannot make a view of the file system (systemd.exec(5), `EXIT_NAMESPACE`).
  private static let noView: Int32 = 226
  private static let most = 1000

  /// The folders that the service manager cannot open, such as those on some network file systems.
  private(set) var unviewable: Set<String> = []

  /// The processes with a view of the file system, and the folder that each may write to.
  private var viewing: [ProcessKey: String] = [:]

  /// The confinement of a starting process that writes to a folder; nil if it only reads.
  func confinement(of key: ProcessKey, to folder: String?) -> WorkerConfinement {
    guard let folder else { return WorkerConfinement(writes: .folders([])) }
    if unviewable.contains(folder) { return WorkerConfinement(writes: .all) }
    viewing[key] = folder
    return WorkerConfinement(writes: .folders([folder]))
  }

  /// Applies the end of a process; returns its folder if it got no view, so that its work is tried again without a view.
  @discardableResult
  func noteEnd(of key: ProcessKey, _ end: TaskEnd) -> String? {
    guard let folder = viewing.removeValue(forKey: key), end.exit == .exited(Self.noView) else { return nil }
    if unviewable.count >= Self.most { unviewable = [] }
    unviewable.insert(folder)
    return folder
  }
}

extension Wire.Assignment {
  /// The folder that the transfer writes to; nil if it only reads.
  var writtenFolder: String? { direction == .download ? folder(of: path) : nil }

  /// The files that a worker must open to move the file.
  var bounds: Wire.WorkerBounds {
    let source = direction == .upload ? folder(of: path) : nil
    let reads = [source, headersFile, credentialFile, netrc == true ? "~/.netrc" : nil]
    return Wire.WorkerBounds(writes: writtenFolder, reads: reads.compactMap(\.self))
  }
}

extension Wire.WorkerBounds {
  /// Whether a worker with these bounds may open the files of other ones.
  func holds(_ other: Self) -> Bool {
    (other.writes ?? writes) == writes && other.reads.allSatisfy { $0 == writes || reads.contains($0) }
  }

  /// The variable of a worker's environment with the bounds.
  ///
  /// A worker that cannot read its bounds does no work; this text has no number that could not be written.
  var variable: String {
    do { return "REFRESH_BOUNDS=\(try jsonText(.line))" } catch { return "REFRESH_BOUNDS=" }
  }
}

extension BuiltIn {
  /// The folder that the task writes to; nil if another process does the work.
  var writtenFolder: String? { writtenFile.map(folder(of:)) }

  /// The files that the task must open; nil if another process does the work.
  var bounds: Wire.WorkerBounds? {
    guard let file, writtenFile != nil else { return nil }
    let reads = [file.headersFile, file.credentialFile, file.usesNetrc ? "~/.netrc" : nil]
    return Wire.WorkerBounds(writes: writtenFolder, reads: reads.compactMap(\.self))
  }
}

private func folder(of path: String) -> String {
  let folder = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
  return folder.isEmpty ? "/" : String(folder)
}
