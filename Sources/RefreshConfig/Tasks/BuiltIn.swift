import JSON
import RefreshAPI
import RefreshEngine

/// A task of a built-in kind, which `refresh-worker` performs.
///
/// A class, because every app has commands and few of them are built in.
public final class BuiltIn: Hashable, Sendable {
  /// The work, with its settings.
  public let work: Work

  /// The work of a built-in kind.
  public enum Work: Hashable, Sendable {
    /// Fetches the file during the refresh, and replaces the local file if there is something new; a body with more than
    /// `mostBytes` decoded bytes is a failure.
    case fetch(RemoteFile, mostBytes: Int64)
    /// Starts a background transfer that downloads the file, and does not wait for it.
    case download(RemoteFile, DownloadTask)
    /// Has CouchDB replicate a database, and waits for the end of the replication.
    case replicate(Replication)
    /// Starts a service of systemd and waits for its end.
    case unit(ServiceUnit)
    /// Has the session bus start an app, which refreshes itself.
    case activate(ActivatedApp)
  }

  init(_ work: Work) { self.work = work }

  /// The file that is fetched or downloaded; nil if the kind moves none.
  public var file: RemoteFile? {
    switch work {
    case .fetch(let file, _), .download(let file, _): file
    case .replicate, .unit, .activate: nil
    }
  }

  /// The path of the file that the worker writes within the refresh; nil for work that it leaves to another process.
  public var writtenFile: String? {
    switch work {
    case .fetch(let file, _): file.target
    case .download, .replicate, .unit, .activate: nil
    }
  }

  /// The standard name of the task; nil if that is the key of the kind.
  var standardName: String? {
    switch work {
    case .unit(let unit): unit.shortName
    case .fetch, .download, .replicate, .activate: nil
    }
  }

  /// The order that the worker reads on standard input.
  public func order(_ policy: TaskPolicy, remembered: Wire.FetchOrder.Remembered?) -> [UInt8] {
    do {
      return switch work {
      case .fetch(let file, let mostBytes): try file.order(mostBytes: mostBytes, remembered).jsonBytes()
      case .download(let file, let task): try task.request(for: file).jsonBytes()
      case .replicate(let replication): try replication.order(reported: remembered?.etag).jsonBytes()
      case .unit(let unit): try unit.order(policy).jsonBytes()
      case .activate(let app): try Wire.ActivationOrder(app: app.name).jsonBytes()
      }
    } catch {
      // Texts and numbers can always be written; the worker reports a missing order.
      return []
    }
  }

  /// Compares the work.
  public static func == (left: BuiltIn, right: BuiltIn) -> Bool { left === right || left.work == right.work }

  /// Hashes the work.
  public func hash(into hasher: inout Hasher) { hasher.combine(work) }

  /// The task with its owner's absolute paths, and with the manager of a unit.
  func resolved(for owner: Owner, by reader: Reader, _ interner: inout Interner) -> BuiltIn {
    switch work {
    case .fetch(let file, let mostBytes):
      BuiltIn(.fetch(file.resolved(for: owner, &interner), mostBytes: mostBytes))
    case .download(let file, let task): BuiltIn(.download(file.resolved(for: owner, &interner), task))
    case .replicate(let replication): BuiltIn(.replicate(replication.resolved(for: owner, &interner)))
    case .unit(let unit): BuiltIn(.unit(unit.resolved(for: owner, by: reader)))
    case .activate: self
    }
  }
}

extension Command {
  /// The file that the command fetches during the refresh (`http`); nil for any other command.
  public var fetch: RemoteFile? { if case .fetch(let file, _) = builtIn?.work { file } else { nil } }

  /// The file that the command downloads in the background (`transfer`); nil for any other command.
  public var download: RemoteFile? { if case .download(let file, _) = builtIn?.work { file } else { nil } }

  /// The replication that the command requests from CouchDB (`replicate`); nil for any other command.
  public var replication: Replication? { if case .replicate(let task) = builtIn?.work { task } else { nil } }

  /// The name under which the store keeps what the next run of the command needs; nil if it needs nothing.
  public var rememberedName: String? { fetch?.url ?? replication?.pair }

  /// The app that the command activates on the session bus (`activate`); nil for any other command.
  public var activation: ActivatedApp? { if case .activate(let app) = builtIn?.work { app } else { nil } }

  /// The unit of systemd that the command starts (`unit`); nil for any other command.
  public var unit: ServiceUnit? { if case .unit(let task) = builtIn?.work { task } else { nil } }
}

/// A built-in kind of tasks, declared once: its key, its worker command and its settings.
struct BuiltInKind: Sendable {
  /// The key of a task.
  let key: String
  /// The shortest value of the key, for messages.
  let form: String
  /// The argument that `refresh-worker` gets.
  let workerCommand: Wire.WorkerCommand
  /// The keys for the outcome of a command that have no meaning here, and the reason.
  var refusedOutcomeKeys = OutcomeKeys()
  /// What cannot be judged by its output, with the reason; nil if there is output, or if `new_data` is refused anyway.
  var unseenOutput: String?
  /// Reads the value of the key from a task; nil if there is none or it describes no work.
  let readWork: @Sendable (inout Section) -> BuiltIn.Work?

  struct OutcomeKeys {
    var keys = ["new_data", "no_data_exit", "retry_exit"]
    var reason = "it reports itself whether there is new data"
  }

  /// Every kind.
  static let all = [
    .ofFile("http", .http) { file, table in
      .fetch(file, mostBytes: table.read("max_size", .bytes("100MB")) ?? 100_000_000)
    },
    .ofFile("transfer", .enqueue) { file, table in .download(file, DownloadTask(from: &table)) },
    BuiltInKind(
      key: "replicate", form: #"{ source = "URL", target = "URL" }"#, workerCommand: .replicate
    ) { section in
      section.readTable("replicate", example: Replication.example) { Replication(from: &$0).map { .replicate($0) } }
        .flatMap(\.self)
    },
    BuiltInKind(
      key: "unit", form: #""mbsync.service""#, workerCommand: .unit, refusedOutcomeKeys: OutcomeKeys(keys: []),
      unseenOutput: "a unit by its output: it goes to systemd's journal"
    ) {
      section in
      ServiceUnit.read(from: &section).map { .unit($0) }
    },
    BuiltInKind(
      key: "activate", form: #""org.example.Notes""#, workerCommand: .activate,
      refusedOutcomeKeys: OutcomeKeys(keys: ["no_data_exit", "retry_exit"], reason: "its exit code is unknown"),
      unseenOutput: "an app by its output: it goes to the session"
    ) { section in ActivatedApp.read(from: &section).map { .activate($0) } },
  ]

  /// A kind whose value is a table with the keys of ``RemoteFile`` and keys of its own.
  private static func ofFile(
    _ key: String, _ command: Wire.WorkerCommand,
    _ readWork: @escaping @Sendable (RemoteFile, inout Section) -> BuiltIn.Work
  ) -> BuiltInKind {
    BuiltInKind(key: key, form: #"{ url = "URL", to = "/PATH" }"#, workerCommand: command) { section in
      section.readTable(key, example: RemoteFile.example(key)) { table in
        let file = RemoteFile(from: &table, of: key)
        let work = readWork(file ?? .unreadable, &table)
        return file.map { _ in work }
      }.flatMap(\.self)
    }
  }

  /// Reads the kind from a task; nil if there is none, or if it describes no work.
  func read(from section: inout Section, in load: LoadContext) -> BuiltIn? {
    for other in refusedOutcomeKeys.keys where section.isWritten(other) {
      section.refuse(other, "cannot judge \(key) by \(other): \(refusedOutcomeKeys.reason)", remedy: "remove the key")
    }
    if load.worker == nil {
      section.refuse(
        key,
        "cannot find refresh-worker, which runs this task, at "
          + load.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there")
    }
    return readWork(&section).map { BuiltIn($0) }
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
        kind.key, "cannot save two files to \(quoted(target))", remedy: "give each file its own path")
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

/// The settings of a task of the built-in kind `activate`.
public struct ActivatedApp: Hashable, Sendable {
  /// The name of the app on its owner's session bus, such as `org.example.Notes`.
  public let name: String

  private init(name: String) { self.name = name }

  /// Reads the key, and refuses contradicting keys; nil if the name is refused.
  static func read(from section: inout Section) -> ActivatedApp? {
    for key in ExecContext.keysOfProcesses where section.isWritten(key) {
      section.refuse(
        key, "cannot set \(key) for an app that the session bus starts",
        remedy: "put it in the app's own service file in dbus-1/services")
    }
    return section.read(
      "activate", .text("org.example.Notes") { (text) throws(Unreadable) in try ActivatedApp(checking: text) })
  }

  private init(checking text: String) throws(Unreadable) {
    guard text.isBusName else {
      throw Unreadable(
        "cannot use \(quoted(text)) as the name of an app on the session bus",
        remedy: #"write the name of its desktop file, without ".desktop", as in "org.example.Notes""#)
    }
    self.init(name: text)
  }
}

extension [TaskSection] {
  /// Refuses to activate apps for root in the system's daemon.
  func refuseActivation(for owner: Owner, in section: inout Section) {
    guard owner.uid == 0, contains(where: { $0.kind?.key == "activate" }) else { return }
    section.refuse(
      section.isWritten("owner") ? "owner" : nil, "cannot activate an app for root: root has no session bus",
      remedy: #"name the app's user, as in owner = "anna""#)
  }

  /// Refuses other tasks next to a task that activates: an app that attaches performs the whole refresh.
  func refuseTasksBesideActivation(in sections: inout [Section]) {
    guard count > 1, let index = firstIndex(where: { $0.kind?.key == "activate" }) else { return }
    sections[index].refuse(
      "activate", "cannot combine activate with other tasks: an app that attaches performs the whole refresh",
      remedy: "move the other tasks to their own app file")
  }
}
