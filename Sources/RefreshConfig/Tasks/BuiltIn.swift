import RefreshAPI

/// A task of a built-in kind, which `refresh-worker` performs.
///
/// A class, because every app holds commands and few of them are built in.
public final class BuiltIn: Hashable, Sendable {
  /// The file that is fetched or downloaded; nil for a kind that moves none.
  public let file: RemoteFile?
  /// The work, with the settings that only its kind has.
  public let work: Work

  /// The work of a built-in kind.
  public enum Work: Hashable, Sendable {
    /// Fetches the file within the refresh, and replaces the local one when there is something new; a body with more
    /// decoded bytes than `mostBytes` is a failure.
    case fetch(mostBytes: Int64)
    /// Starts a background transfer that downloads the file, and ends.
    case download(DownloadTask)
    /// Starts a service of systemd and waits for its end.
    case unit(ServiceUnit)
  }

  init(_ file: RemoteFile?, _ work: Work) { (self.file, self.work) = (file, work) }

  /// Compares files and work.
  public static func == (left: BuiltIn, right: BuiltIn) -> Bool {
    left === right || (left.file, left.work) == (right.file, right.work)
  }

  /// Hashes the file and the work.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(file)
    hasher.combine(work)
  }

  /// The task with what follows from its owner: absolute paths, and the manager of a unit.
  func resolved(for owner: Owner, by reader: Reader, _ interner: inout Interner) -> BuiltIn {
    guard case .unit(let task) = work else { return BuiltIn(file?.resolved(for: owner, &interner), work) }
    return BuiltIn(file, .unit(task.resolved(for: owner, by: reader)))
  }
}

/// A built-in kind of tasks, declared once: the key that asks for it, its worker command and its own settings.
struct BuiltInKind: Sendable {
  /// The key of a task.
  let key: String
  /// The argument that `refresh-worker` gets.
  let workerCommand: Wire.WorkerCommand
  /// A valid line of the kind.
  let example: String
  /// The keys that split the outcome of a command and have no meaning for this kind, each with its mistake.
  let refusedKeys: [String: Unreadable]
  /// Reads the value of the key; nil if it is refused.
  let readTask: @Sendable (inout Section) -> BuiltIn?

  /// Every kind.
  static let all = [
    ofFile("http", .http) { table in
      .fetch(mostBytes: table.read("max_size", .bytes("100MB")) ?? 100_000_000)
    },
    ofFile("transfer", .enqueue) { .download(DownloadTask(from: &$0)) },
    BuiltInKind(key: "unit", workerCommand: .unit, example: #"unit = "mbsync.service""#, refusedKeys: [:]) {
      ServiceUnit.read(from: &$0).map { BuiltIn(nil, .unit($0)) }
    },
  ]

  /// A kind whose value is a table with the keys of ``RemoteFile`` and those that `readWork` reads.
  private static func ofFile(
    _ key: String, _ command: Wire.WorkerCommand, readWork: @escaping @Sendable (inout Section) -> BuiltIn.Work
  ) -> BuiltInKind {
    let refused = ["new_data", "no_data_exit", "retry_exit"].map { other in
      let message = "cannot judge \(key) by \(other): it tells itself whether there is something new"
      return (other, Unreadable(message, remedy: "remove the key"))
    }
    return BuiltInKind(
      key: key, workerCommand: command, example: #"\#(key) = { url = "URL", to = "/PATH" }"#,
      refusedKeys: Dictionary(uniqueKeysWithValues: refused)
    ) { section in
      section.readTable(key, example: RemoteFile.example(key)) { table in
        let file = RemoteFile(from: &table, of: key)
        let work = readWork(&table)
        return file.map { BuiltIn($0, work) }
      }.flatMap(\.self)
    }
  }

  /// Reads the kind out of a task; nil if its value is refused.
  func read(from section: inout Section, in load: LoadContext) -> BuiltIn? {
    for (other, mistake) in refusedKeys.sorted(by: { $0.key < $1.key }) where section.isWritten(other) {
      section.refuse(other, mistake)
    }
    if load.worker == nil {
      section.refuse(
        key,
        "cannot find refresh-worker, which does it, at "
          + load.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there")
    }
    return readTask(&section)
  }
}

extension [TaskSection] {
  /// Refuses two tasks that write the same file.
  func refuseSharedTargets(in sections: inout [Section]) {
    var targets: Set<String> = []
    for (index, task) in enumerated() {
      guard let kind = task.kind, let target = task.builtIn?.file?.target, !targets.insert(target).inserted else {
        continue
      }
      sections[index].refuse(
        kind.key, "cannot put two files at \(quoted(target))", remedy: "give each a path of its own")
    }
  }

  /// Refuses two tasks that start the same unit: the second would only wait for the first.
  func refuseSharedUnits(in sections: inout [Section]) {
    var units: Set<String> = []
    for (index, task) in enumerated() {
      guard case .unit(let unit)? = task.builtIn?.work, !units.insert(unit.name).inserted else { continue }
      sections[index].refuse(
        "unit", "cannot start \(unit.name) twice in one refresh", remedy: "remove one of the tasks")
    }
  }
}
