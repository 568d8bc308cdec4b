import RefreshAPI

extension Screen {
  /// The daemon: a sentence first, what it rests on after it.
  func text(_ daemon: Wire.DaemonStatus) -> [String] {
    var facts = Facts()
    let running = daemon.refreshing == 1 ? "1 is being refreshed" : "\(daemon.refreshing) are being refreshed"
    facts.add("apps", daemon.refreshing == 0 ? "\(daemon.apps)" : "\(daemon.apps), \(running)")
    facts.add(
      "next", daemon.next.map { "\($0.app), \(relative($0.dueMicroseconds)), \(clock($0.dueMicroseconds))" } ?? "-")
    if let transferring = daemon.transferring, let waiting = daemon.transfersWaiting, transferring + waiting > 0 {
      facts.add("transfers", "\(transferring) being moved, \(waiting) waiting")
    }
    if let push = daemon.push { facts.add("push", text(push)) }
    if let pause = daemon.pause { facts.add("pause", end(pause)) }
    facts.add("configuration", configuration(daemon.configuration))
    facts.add("store", store(daemon.store))
    facts.add("launcher", "\(printable(daemon.launcher)) (\(printable(daemon.launcherReason)))")
    facts.add("socket", printable(daemon.socket))
    return wrapped(sentence(daemon)) + [""] + facts.lines(on: self)
  }

  /// What runs since when, and whether all is well.
  func sentence(_ daemon: Wire.DaemonStatus) -> String {
    let whose = daemon.isUserDaemon ? "your own daemon" : "the system's daemon"
    let since = "\(relative(daemon.sinceMicroseconds)) (\(clock(daemon.sinceMicroseconds)))"
    var troubles: [String] = []
    if !daemon.configuration.problems.isEmpty {
      let mistakes = count(daemon.configuration.problems.count, "mistake")
      troubles.append("The last reload was refused for \(mistakes); the configuration before it is in force.")
    }
    if let problem = daemon.store.problem {
      troubles.append("The store cannot be written (\(printable(problem))); the daemon goes on in memory.")
    }
    if let sources = daemon.push.flatMap(sentence) { troubles.append(sources) }
    if let pause = daemon.pause { troubles.append(sentence(pause)) }
    let state = troubles.isEmpty ? "All is well." : troubles.joined(separator: " ")
    return "refreshd \(printable(daemon.version)), \(whose), started \(since), start \(daemon.start). \(state)"
  }

  private func configuration(_ state: Wire.ConfigurationState) -> [String] {
    let since = "in force since \(clock(state.sinceMicroseconds))"
    return [since] + state.directories.map { "from \(printable($0))" }
      + state.problems.map { paint($0.line(), .bad) }
  }

  private func store(_ store: Wire.StoreState) -> [String] {
    [printable(store.directory)] + (store.problem.map { [paint(printable($0), .bad)] } ?? [])
  }

  /// The mistakes of a configuration, a line each, and their number.
  func text(_ problems: [Wire.Problem]) -> [String] {
    guard !problems.isEmpty else { return ["No mistakes."] }
    let files = Set(problems.map(\.file)).count
    return problems.map { $0.line() } + ["\(count(problems.count, "mistake")) in \(count(files, "file"))."]
  }

  /// Text broken between words at the width of the screen, or at a width that is easy to read.
  func wrapped(_ text: String) -> [String] {
    wrapped(text, within: readableWidth)
  }

  /// The width of the screen, or one that is easy to read.
  var readableWidth: Int { min(width ?? 100, 100) }

  /// Text broken between words at so many columns.
  func wrapped(_ text: String, within limit: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let line = lines.last, line.count + 1 + word.count <= limit {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}

extension Wire.Problem {
  /// The problem in one line, its place first in the form that editors and compilers know.
  func line() -> String {
    let place = [file, line.map(String.init), column.map(String.init)].compactMap(\.self).joined(separator: ":")
    return printable([place, key, "\(message); \(remedy)"].compactMap(\.self).joined(separator: ": "))
  }
}
