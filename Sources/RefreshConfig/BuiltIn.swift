/// The built-in kinds of tasks: commands of refresh-worker, which is told the rest on standard input.
public enum BuiltIn: Hashable, Sendable {
  /// Fetches a URL into a file, within the refresh.
  case http(Fetch)
  /// Has a URL downloaded by a background transfer, however long that takes, and ends.
  case transfer(Download)
}

/// The table of a task that is a built-in kind.
enum BuiltInSection {
  case http(FetchSection)
  case transfer(DownloadSection)

  /// The keys of a task that ask for one, with what the worker calls it.
  static let words = ["http": "http", "transfer": "enqueue"]
  /// The keys of a task that would judge it, which it does itself.
  private static let judging = ["new_data", "no_data_exit", "retry_exit"]

  /// Takes the table out of a task; nil if there is none.
  init?(from section: inout Section, in reading: inout Reading) {
    guard let key = Self.words.keys.sorted().first(where: section.isWritten) else { return nil }
    for other in Self.judging where section.isWritten(other) {
      section.refuse(
        other,
        Unreadable(
          message: "cannot judge \(key) by \(other): it tells itself whether there is something new",
          remedy: "remove the key"))
    }
    if reading.worker == nil {
      section.refuse(
        key,
        Unreadable(
          message: "cannot find refresh-worker, which does it, at "
            + reading.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there"))
    }
    guard var table = section.takeTable(key, example: RemoteFileSection.example(key)) else { return nil }
    self = key == "http" ? .http(FetchSection(from: &table)) : .transfer(DownloadSection(from: &table))
    table.refuseUnknownKeys()
    section.adopt(table)
  }

  /// The key that asks for it.
  var key: String {
    switch self {
    case .http: "http"
    case .transfer: "transfer"
    }
  }

  /// The path of the file as it is written.
  var target: String? {
    switch self {
    case .http(let section): section.file.target
    case .transfer(let section): section.file.target
    }
  }

  /// What it is for an owner; nil where a mistake was found.
  func builtIn(for owner: Owner, _ sharing: inout Sharing) -> BuiltIn? {
    switch self {
    case .http(let section): section.fetch(for: owner, &sharing).map { .http($0) }
    case .transfer(let section): section.download(for: owner, &sharing).map { .transfer($0) }
    }
  }
}

extension [TaskSection] {
  /// Refuses two tasks that would put what comes in one place.
  func refuseSharedTargets(in sections: inout [Section]) {
    var targets: Set<String> = []
    for (place, task) in enumerated() {
      guard let builtIn = task.builtIn, let target = builtIn.target, !targets.insert(target).inserted else { continue }
      sections[place].refuse(
        builtIn.key,
        Unreadable(message: "cannot put two files at \(quoted(target))", remedy: "give each a path of its own"))
    }
  }
}
