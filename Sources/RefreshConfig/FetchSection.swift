import RefreshEngine

/// The table `http` of a task, checked (FEATURES C8).
struct FetchSection {
  /// A line that would be right.
  static let example = #"http = { url = "https://example.org/feed.xml", to = "/srv/feed.xml" }"#
  /// The keys of the task that would judge it, which it does itself.
  private static let judging = ["new_data", "no_data_exit", "retry_exit"]

  private var url: HTTPURL?
  /// The path of the file as it is written.
  private(set) var target: String?
  private var headersFile: String?
  private var credentialFile: String?
  private var usesNetrc = false
  private var mostBytes = Fetch.standardMostBytes

  /// Takes the table out of a task; nil if there is none.
  init?(from section: inout Section, in reading: inout Reading) {
    guard section.isWritten("http") else { return nil }
    for key in Self.judging where section.isWritten(key) {
      section.refuse(
        key,
        Unreadable(
          message: "cannot judge a fetch by \(key): it tells itself whether the file has changed",
          remedy: "remove the key"))
    }
    if reading.worker == nil {
      section.refuse(
        "http",
        Unreadable(
          message: "cannot find refresh-worker, which fetches, at "
            + reading.reader.workers.map(quoted).joined(separator: " or "),
          remedy: "install it there"))
    }
    guard var table = section.takeTable("http", example: Self.example) else { return }
    url = table.takeText("url", example: "https://example.org/feed.xml") { (text) throws(Unreadable) in
      try HTTPURL(text)
    }
    target = table.takeText("to", example: "/srv/feed.xml", Self.path)
    headersFile = table.takeText("headers_file", example: "~/.config/feed.headers", Self.path)
    credentialFile = table.takeText("credential_file", example: "~/.config/feed.credential", Self.path)
    usesNetrc = table.takeBoolean("netrc") ?? false
    mostBytes =
      table.takeText("max_size", example: "100MB") { (text) throws(Unreadable) in try ByteSizes.bytes(text) }
      ?? mostBytes
    for (key, missing) in [("url", "without a URL"), ("to", "without a path to put it")]
    where !table.isWritten(key) {
      table.refuse(
        key, Unreadable(message: "cannot fetch \(missing)", remedy: "write for example \(Self.example)"))
    }
    if usesNetrc, table.isWritten("credential_file") {
      table.refuse(
        "netrc",
        Unreadable(
          message: "cannot take user and password from two places", remedy: "write one of netrc and credential_file"))
    }
    table.refuseUnknownKeys()
    section.adopt(table)
  }

  /// What is fetched for an owner; nil where a mistake was found.
  func fetch(for owner: Owner, _ sharing: inout Sharing) -> Fetch? {
    guard let url, let target else { return nil }
    return Fetch(
      url: url.text, target: owner.path(of: target),
      headersFile: headersFile.map { sharing.one(owner.path(of: $0)) },
      credentialFile: credentialFile.map { sharing.one(owner.path(of: $0)) }, usesNetrc: usesNetrc,
      mostBytes: mostBytes)
  }

  /// Checks a path that may begin with `~/`.
  private static func path(_ text: String) throws(Unreadable) -> String {
    try TargetPath.check(text.hasPrefix("~/") ? String(text.dropFirst(1)) : text)
    return text
  }
}

extension [TaskSection] {
  /// Refuses two tasks that would put what they fetch in one place.
  func refuseSharedTargets(in sections: inout [Section]) {
    var targets: Set<String> = []
    for (place, task) in enumerated() {
      guard let target = task.fetch?.target, !targets.insert(target).inserted else { continue }
      sections[place].refuse(
        "http",
        Unreadable(message: "cannot put two files at \(quoted(target))", remedy: "give each a path of its own"))
    }
  }
}
