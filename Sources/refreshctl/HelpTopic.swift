@preconcurrency import Glibc

/// A subject that `refreshctl help TOPIC` opens.
struct HelpTopic: Hashable {
  /// The names of the topic; the list shows the first.
  let names: [String]
  /// The subject in a few words.
  let about: String
  /// The manual page of the topic.
  let manual: ManualPage?
  /// The file below docs/ with the same content or more.
  let page: String?

  private init(_ names: String..., about: String, manual: ManualPage? = nil, page: String? = nil) {
    (self.names, self.about, self.manual, self.page) = (names, about, manual, page)
  }

  /// All topics: the manual pages, then the pages of the documentation.
  ///
  /// No topic has the name of a subcommand, because the help of the subcommand comes first.
  static let all = [
    HelpTopic("refreshd", about: "the daemon: options, signals, files", manual: "refreshd(8)"),
    HelpTopic("refreshctl", about: "this command and its exit statuses", manual: "refreshctl(1)"),
    HelpTopic(
      "refreshd.toml", "configuration", about: "the settings of the daemon", manual: "refreshd.toml(5)",
      page: "configuration.md"),
    HelpTopic(
      "app", "apps.d", "refreshd-app", about: "the file of an app", manual: "refreshd-app(5)", page: "configuration.md"),
    HelpTopic("push.toml", about: "the sources of pushes", manual: "push.toml(5)", page: "configuration.md"),
    HelpTopic(
      "scheduling", about: "when refreshd refreshes an app", manual: "refreshd(7)", page: "scheduling.md"
    ),
    HelpTopic(
      "refresh-push", "bridge", about: "pushes of ntfy, streams and MQTT", manual: "refresh-push(8)",
      page: "push.md"),
    HelpTopic(
      "refresh-session", "session", about: "which apps run, which is in front", manual: "refresh-session(8)",
      page: "session.md"),
    HelpTopic("ten-minutes", about: "from nothing to a fresh app", page: "ten-minutes.md"),
    HelpTopic("recipes", about: "files of apps for known programs", page: "recipes.md"),
    HelpTopic("timers", about: "take over the timers of systemd", page: "adopt.md"),
    HelpTopic("background-transfers", about: "downloads and uploads", page: "transfers.md"),
    HelpTopic("answers", about: "what users ask of background work", page: "answers.md"),
    HelpTopic("json", about: "what subcommands print with --json", page: "json.md"),
    HelpTopic("protocol", about: "the calls over the socket", page: "protocol.md"),
    HelpTopic("packages", about: "installation, upgrade, removal", page: "packages.md"),
    HelpTopic("glossary", about: "every word", page: "glossary.md"),
    HelpTopic("design", about: "the parts of refreshd, its promises", page: "design.md"),
    HelpTopic("testing", about: "how refreshd is tested", page: "testing.md"),
    HelpTopic("how-to-extend", about: "the files that a change touches", page: "how-to-extend.md"),
  ]

  /// The word that lists all topics.
  static let list = "topics"

  /// The word after `help` in a command line, if it is the only one and not a subcommand.
  static func asked(in arguments: [String]) -> String? {
    guard arguments.count == 2, arguments[0] == "help", !arguments[1].hasPrefix("-"),
      !RefreshCtl.commandNames.contains(arguments[1]), arguments[1] != "help"
    else { return nil }
    return arguments[1]
  }

  /// Finds the topic of a word; throws with suggestions.
  init(_ word: String) throws(Failure) {
    // A manual page may be written as man(1) does, `refreshd.toml(5)`, or as its file in docs/.
    let found = Self.all.first { topic in
      topic.names.contains(word.lowercased()) || topic.manual?.description == word || topic.page == word
    }
    guard let found else {
      let known = Self.all.flatMap(\.names) + RefreshCtl.commandNames + [Self.list]
      let like = Suggestions.texts(like: word, among: known)
      let question = like.isEmpty ? "" : "did you mean \(like.joined(separator: " or "))? "
      throw Failure(
        status: .usage,
        text: "cannot find help on \(printable(word)); \(question)`refreshctl help topics` lists the topics")
    }
    self = found
  }

  /// The topics as a table.
  static func lines(on screen: Screen) -> [String] {
    var table = Table(titles: ["TOPIC", "OPENS", "ABOUT"], prose: 2)
    table.rows = all.map { topic in
      [
        Cell(topic.names[0]), Cell(topic.manual?.description ?? topic.page ?? ""),
        Cell(topic.about),
      ]
    }
    return table.lines(on: screen)
  }
}

/// A manual page, written as `refreshd.toml(5)`.
struct ManualPage: Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  let name: String
  let section: String

  init(stringLiteral text: String) {
    let parts = text.split(separator: "(")
    name = parts.first.map(String.init) ?? text
    section = parts.dropFirst().first.map { String($0.dropLast()) } ?? "1"
  }

  var description: String { "\(name)(\(section))" }

  /// The possible files of the page below a folder of shared data, compressed or not.
  func files(below share: String) -> [String] {
    ["", ".gz", ".xz", ".zst", ".bz2"].map { "\(share)/man/man\(section)/\(name).\(section)\($0)" }
  }
}

/// Opens a topic with the machine's programs: man(1), or the reader's pager.
struct TopicReader {
  /// The folders with shared data, `share` of this program's own prefix first.
  let shares: [String]

  /// Derives the folders from the path of this program.
  init() {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let path = String(decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let prefix = path.split(separator: "/").dropLast(2).map { "/" + $0 }.joined()
    shares = [prefix + "/share"] + ["/usr/local/share", "/usr/share"].filter { $0 != prefix + "/share" }
  }

  /// Replaces this process by a reader of the topic's page; if no reader starts, throws with the address of the page.
  func open(_ topic: HelpTopic) throws(Failure) -> Never {
    if let manual = topic.manual, let file = firstReadable(shares.flatMap(manual.files)) {
      // man treats a name with a slash as a file, whatever MANPATH is.
      let reason = replaced(by: ["man", file])
      throw Failure(
        status: .notFound, text: "cannot open \(manual) with man: \(reason); install man-db, or read \(file)")
    }
    if let page = topic.page, let file = firstReadable(shares.map { "\($0)/doc/refreshd/docs/\(page)" }) {
      if let manual = topic.manual { warn("\(manual) is not installed; this is \(file)") }
      var reason = ""
      for reader in readers(of: file) { reason = replaced(by: reader) }
      throw Failure(status: .notFound, text: "cannot show \(file): \(reason); open it with another program")
    }
    throw Failure(status: .notFound, text: refusal(topic))
  }

  /// The message about a page that is not installed.
  private func refusal(_ topic: HelpTopic) -> String {
    let page = topic.page.map { "docs/\($0)" }
    switch (topic.manual, page) {
    case (let manual?, let page?):
      return "cannot open \(manual): it is not installed; \(page) in the sources of refreshd says the same"
    case (let manual?, nil):
      return "cannot open \(manual): it is not installed; `\(manual.name) --help` has its options"
    case (nil, let page?): return "cannot open \(page): it is not installed; it is in the sources of refreshd"
    case (nil, nil): return "cannot open \(topic.names[0]): it has no page"
    }
  }

  private func firstReadable(_ paths: [String]) -> String? { paths.first { access($0, R_OK) == 0 } }

  /// The commands that may show a file, the best first: on a terminal the reader's pager, else the plain text.
  private func readers(of file: String) -> [[String]] {
    guard isatty(STDOUT_FILENO) == 1 else { return [["cat", file]] }
    // Like man(1), treat PAGER as a command line of the shell.
    let own = environmentVariable("PAGER").map { [["/bin/sh", "-c", "\($0) \"$1\"", "sh", file]] } ?? []
    return own + [["less", file], ["more", file], ["cat", file]]
  }

  /// Replaces this process by a command; returns the reason if that fails.
  private func replaced(by command: [String]) -> String {
    var pointers: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { for pointer in pointers { free(pointer) } }
    execvp(command[0], &pointers)
    return errorText(errno)
  }
}
