@preconcurrency import Glibc

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

  /// Replaces this process by a reader of the topic's page; throws with the address of the page if there is none.
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
