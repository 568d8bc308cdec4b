import RefreshAPI

/// A task of a built-in kind, which `refresh-worker` performs.
///
/// A class, because every app holds commands and few of them are built in.
public final class BuiltIn: Hashable, Sendable {
  /// The file that is fetched or downloaded.
  public let file: RemoteFile
  /// The work, with the settings that only its kind has.
  public let work: Work

  /// The work of a built-in kind.
  public enum Work: Hashable, Sendable {
    /// Fetches the file within the refresh, and replaces the local one when there is something new; a body with more
    /// decoded bytes than `mostBytes` is a failure.
    case fetch(mostBytes: Int64)
    /// Starts a background transfer that downloads the file, and ends.
    case download(DownloadTask)
  }

  init(_ file: RemoteFile, _ work: Work) { (self.file, self.work) = (file, work) }

  /// Compares files and work.
  public static func == (left: BuiltIn, right: BuiltIn) -> Bool {
    left === right || (left.file, left.work) == (right.file, right.work)
  }

  /// Hashes the file.
  public func hash(into hasher: inout Hasher) { hasher.combine(file) }
}

/// A built-in kind of tasks, declared once: the key that asks for it, its worker command and its own settings.
struct BuiltInKind: Sendable {
  /// The key of a task, whose value is a table with the keys of ``RemoteFile`` and those of the kind.
  let key: String
  /// The argument that `refresh-worker` gets.
  let workerCommand: Wire.WorkerCommand
  /// Reads the keys of the table that only this kind has.
  let readWork: @Sendable (inout Section) -> BuiltIn.Work

  /// Every kind.
  static let all = [
    BuiltInKind(key: "http", workerCommand: .http) { table in
      .fetch(mostBytes: table.read("max_size", .bytes("100MB")) ?? 100_000_000)
    },
    BuiltInKind(key: "transfer", workerCommand: .enqueue) { .download(DownloadTask(from: &$0)) },
  ]

  /// The keys that split the outcome of a command, which built-in kinds report themselves.
  private static let outcomeKeys = ["new_data", "no_data_exit", "retry_exit"]

  /// Reads the table of the kind out of a task; nil if there is none, or if its `to` is refused.
  func read(from section: inout Section, in load: LoadContext) -> BuiltIn? {
    for other in Self.outcomeKeys where section.isWritten(other) {
      section.refuse(
        other, "cannot judge \(key) by \(other): it tells itself whether there is something new",
        remedy: "remove the key")
    }
    if load.worker == nil {
      section.refuse(
        key,
        "cannot find refresh-worker, which does it, at "
          + load.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there")
    }
    return section.readTable(key, example: RemoteFile.example(key)) { table in
      let file = RemoteFile(from: &table, of: key)
      let work = readWork(&table)
      return file.map { BuiltIn($0, work) }
    }.flatMap(\.self)
  }
}

extension [TaskSection] {
  /// Refuses two tasks that write the same file.
  func refuseSharedTargets(in sections: inout [Section]) {
    var targets: Set<String> = []
    for (index, task) in enumerated() {
      guard let kind = task.kind, let target = task.builtIn?.file.target, !targets.insert(target).inserted else {
        continue
      }
      sections[index].refuse(
        kind.key, "cannot put two files at \(quoted(target))", remedy: "give each a path of its own")
    }
  }
}
