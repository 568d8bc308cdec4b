import Glibc
import RefreshAPI

extension Screen {
  /// The state of the daemon and the next steps: the answer to `refreshctl` without a subcommand.
  func overview(_ daemon: Wire.DaemonStatus) -> [String] {
    let others = daemon.hasAppsOfOthers == true
    if daemon.apps == 0 {
      let whose = daemon.isUserDaemon ? "Your own daemon" : "The system's daemon"
      return wrapped(
        "\(whose), refreshd \(printable(daemon.version)), runs. "
          + (others ? "You have no app in it, but others do." : "It has no app yet."))
        + steps(Self.first(for: daemon, by: geteuid()))
    }
    let next = daemon.next.flatMap { next in
      next.startMicroseconds.map { "Next: \(printable(next.app)), \(relative($0))." }
    }
    let apps =
      "\(count(daemon.apps, "app")), \(daemon.refreshing == 0 ? "none" : "\(daemon.refreshing)") being refreshed."
    return wrapped(sentence(daemon)) + wrapped([apps, next].compactMap(\.self).joined(separator: " "))
      + steps(Self.daily)
  }

  /// The next steps if no daemon answers.
  func overview(without socket: SocketPath) -> [String] {
    wrapped("refreshd keeps the data of apps fresh. No daemon answers on \(printable(socket.path)); \(socket.remedy).")
      + steps(Self.first())
  }

  /// The first steps of a user; without root, `refreshctl new` writes for the user's own daemon.
  static func first(
    for daemon: Wire.DaemonStatus? = nil, by uid: UInt32 = 0
  ) -> [(command: String, about: String)] {
    let sudo = uid != 0 && daemon?.isUserDaemon == false ? "sudo " : ""
    return [
      ("\(sudo)refreshctl new", "add an app; it asks for what it needs"),
      ("man refreshd-app", "every key of an app's file"),
      ("refreshctl --help", "all subcommands"),
    ]
  }
  private static let daily = [
    ("refreshctl list", "every app; `top` shows them live"),
    ("refreshctl why APP", "why it was or was not refreshed, and when it will be"),
    ("refreshctl --help", "all subcommands; `new` adds another app"),
  ]

  private func steps(_ steps: [(command: String, about: String)]) -> [String] {
    steps.map { step in
      let gap = String(repeating: " ", count: max(1, 20 - step.command.count))
      return "  \(paint(step.command, .title))\(gap)\(step.about)"
    }
  }
}

extension Screen {
  /// The state of the daemon: a summary sentence, then the facts.
  func text(_ daemon: Wire.DaemonStatus) -> [String] {
    var facts = Facts()
    let running = daemon.refreshing == 1 ? "1 is being refreshed" : "\(daemon.refreshing) are being refreshed"
    let others = daemon.hasAppsOfOthers == true ? "; those of other users are shown to root and the group refreshd" : ""
    facts.add("apps", (daemon.refreshing == 0 ? "\(daemon.apps)" : "\(daemon.apps), \(running)") + others)
    facts.add("next", daemon.next.map(next) ?? "-")
    if let held = daemon.held {
      facts.add("held", held.map { "\(printable($0.hold)) \($0.apps)" }.joined(separator: ", "))
    }
    if let waiting = daemon.pushesWaiting { facts.add("pushes", waiting == 1 ? "1 waits" : "\(waiting) wait") }
    if let transferring = daemon.transferring, let waiting = daemon.transfersWaiting, transferring + waiting > 0 {
      facts.add("transfers", "\(transferring) in progress, \(waiting) waiting")
    }
    if let guards = daemon.guards { facts.add("guards", guards.map(text)) }
    if let push = daemon.push { facts.add("push", text(push)) }
    if let desktops = daemon.desktops { facts.add("desktop", desktops.map(text)) }
    if let unwatched = daemon.unwatched { facts.add("watch", text(unwatched)) }
    if let pause = daemon.pause { facts.add("pause", end(pause)) }
    if let pings = daemon.pings { facts.add("pings", text(pings)) }
    facts.add("configuration", configuration(daemon.configuration))
    facts.add("store", store(daemon.store))
    facts.add("launcher", "\(printable(daemon.launcher)) (\(printable(daemon.launcherReason)))")
    if let unconfined = daemon.unconfined { facts.add("confinement", wrapped(printable(unconfined), within: 80)) }
    facts.add("socket", printable(daemon.socket))
    return wrapped(sentence(daemon)) + [""] + facts.lines(on: self)
  }

  /// The app that starts next; if no start is known, the app that is due next and its holds.
  private func next(_ next: Wire.NextRefresh) -> String {
    let holds = printable((next.holds ?? []).joined(separator: ", "))
    if let start = next.startMicroseconds ?? (holds.isEmpty ? next.dueMicroseconds : nil) {
      return "\(printable(next.app)), \(relative(start)), \(clock(start))" + held(next)
    }
    let due = next.dueMicroseconds
    return due <= now
      ? "none: \(printable(next.app)) is due since \(clock(due)) and held: \(holds)"
      : "none: \(printable(next.app)) is due \(relative(due)), \(clock(due)), then held: \(holds)"
  }

  /// The holds that delay the next refresh: ` (held: quiet)`, ` (due in 1 h, then held: quiet)`.
  private func held(_ next: Wire.NextRefresh) -> String {
    guard let holds = next.holds, !holds.isEmpty else { return "" }
    let due = next.dueMicroseconds
    return " (\(due <= now ? "" : "due \(relative(due)), then ")held: \(printable(holds.joined(separator: ", "))))"
  }

  /// The daemon, the time of its start, and its problems.
  func sentence(_ daemon: Wire.DaemonStatus) -> String {
    let since = relativeAndClock(daemon.sinceMicroseconds)
    let whose = daemon.isUserDaemon ? "your own daemon" : "the system's daemon"
    var troubles: [String] = []
    if !daemon.configuration.problems.isEmpty {
      let mistakes = count(daemon.configuration.problems.count, "mistake")
      troubles.append("The last reload was rejected for \(mistakes); the previous configuration stays in force.")
    }
    if let held = daemon.configuration.held, !held.isEmpty {
      let files = count(Set(held.map(\.file)).count, "file")
      troubles.append("The apps of \(files) are held until you correct \(count(held.count, "mistake")).")
    }
    if let problem = daemon.store.problem {
      let effect =
        daemon.store.isSilent == true
        ? "nothing new starts until it answers" : "the daemon keeps its state in memory only"
      troubles.append("The store cannot be written (\(printable(problem))); \(effect).")
    }
    if let problem = daemon.launcherProblem {
      troubles.append(
        "No task can be started (\(printable(problem))); refreshes wait until their deadlines, and transfers "
          + "until it answers.")
    }
    if let stuck = daemon.stuck, !stuck.isEmpty {
      let names = stuck.map { stuck in
        let pids = stuck.pids.isEmpty ? "" : " (process \(stuck.pids.map(String.init).joined(separator: ", ")))"
        return printable(stuck.app) + pids
      }
      troubles.append("The refresh of \(names.joined(separator: ", ")) is blocked in the kernel and cannot be killed.")
    }
    if let sources = daemon.push.flatMap(sentence) { troubles.append(sources) }
    if daemon.isBridgeMissing == true {
      let user = daemon.isUserDaemon ? " --user" : ""
      troubles.append(
        "The push bridge is not connected, though push.toml names sources; "
          + "`systemctl\(user) status refresh-push` says more.")
    }
    if let unwatched = daemon.unwatched {
      troubles.append("Changes in \(count(unwatched.count, "watched folder")) may be missed.")
    }
    let lost = Set((daemon.guards ?? []).filter { $0.guarded.trouble != nil }.map(\.guarded.unit)).sorted()
    if !lost.isEmpty { troubles.append("A guard cannot do its work for \(names(lost)): see `guards`.") }
    troubles += (daemon.desktops ?? []).compactMap(sentence)
    if let apps = daemon.troubled, !apps.isEmpty { troubles.append(sentence(apps)) }
    if let pause = daemon.pause { troubles.append(sentence(pause)) }
    let state = troubles.isEmpty ? "All is well." : troubles.joined(separator: " ")
    return "refreshd \(printable(daemon.version)), \(whose), started \(since), start \(daemon.start). \(state)"
  }

  /// The apps that need attention, with the reasons of the first five.
  private func sentence(_ troubled: [Wire.TroubledApp]) -> String {
    let reasons = troubled.map { app in
      let at = app.atMicroseconds ?? now
      let reason =
        switch app.trouble {
        case .failing: "failed \(app.failures ?? 0) times in a row"
        case .resting: "rests until \(clock(at)), because it ran out of time too often"
        case .neverWorked: "has never worked, and was due \(relative(at))"
        case .late: "is late: its last success was \(relative(at))"
        }
      return "\(printable(app.app)) \(reason)"
    }
    let needing = troubled.count == 1 ? "1 app needs" : "\(troubled.count) apps need"
    return "\(needing) attention: \(reasons.firstFive); `refreshctl why APP` says more."
  }

  /// A sentence about a session that follows apps but cannot see their windows; nil if it can.
  private func sentence(_ desktop: Wire.DesktopSession) -> String? {
    guard desktop.windows == .none, desktop.apps > 0, let remedy = desktop.remedy else { return nil }
    return "refresh-session of user \(desktop.uid) cannot see windows (\(printable(remedy)))."
  }

  /// The failed pings, at most three of them.
  private func text(_ pings: [Wire.PingProblem]) -> [String] {
    let more = pings.count > 3 ? ["and \(pings.count - 3) more; `refreshctl why APP` says why"] : []
    return pings.prefix(3).map { "\(printable($0.app)) failed \(clock($0.atMicroseconds)): \(printable($0.problem))" }
      + more
  }

  /// A session that reports its desktop: its source of windows, and the apps that it sees.
  private func text(_ desktop: Wire.DesktopSession) -> String {
    let front = Set(desktop.front)
    let behind = desktop.running.filter { !front.contains($0) }
    var facts = ["user \(desktop.uid): \(count(desktop.apps, "app")) followed"]
    if !desktop.front.isEmpty { facts.append("in front: \(names(desktop.front))") }
    if !behind.isEmpty { facts.append("behind: \(names(behind))") }
    if !desktop.isWatched { facts.append("nobody is using it") }
    let remedy = desktop.remedy.map { " (\(printable($0)))" } ?? ""
    switch desktop.windows {
    case .none: facts.append("cannot see windows\(remedy)")
    case .wlr: facts.append("sees windows by the compositor (wlr)")
    case .x11: facts.append("sees windows by the X server")
    case .kwin: facts.append("sees windows by a script in KWin")
    case .gnome: facts.append("sees windows by the GNOME extension")
    }
    return facts.joined(separator: "; ")
  }

  private func names(_ names: [String]) -> String {
    names.map(printable).firstFive
  }

  /// The folders whose changes may be missed, a line each for the first few.
  private func text(_ unwatched: [Wire.WatchedFolder]) -> [String] {
    let lines = unwatched.prefix(5).flatMap { folder in
      let watched = folder.folders == 0 ? "is not watched" : "is watched only in part"
      let text = "\(folder.folder) of \(folder.app) \(watched): \(folder.problem ?? "")"
      return wrapped(printable(text), within: max(20, readableWidth - 17)).map { paint($0, .bad) }
    }
    return lines + (unwatched.count > 5 ? ["and \(unwatched.count - 5) more"] : [])
  }

  /// Whether all apps are paused, and the end of the pause.
  func sentence(_ pause: Wire.PauseState?) -> String {
    guard let pause else { return "Nothing is paused: the machine is on mains power." }
    return "All apps are paused \(end(pause))."
  }

  /// The effect of a pause that does not end with mains power.
  func sentence(ofTimed pause: Wire.PauseState?) -> String {
    pause == nil ? "Nothing is paused: the pause is over." : sentence(pause)
  }

  /// The end of a pause: `until today 14:00, in 2 h`.
  func end(_ pause: Wire.PauseState) -> String {
    if let until = pause.untilMicroseconds { return "until \(clock(until)), \(relative(until))" }
    return pause.untilAC ? "until the machine is on mains power" : "until `refreshctl resume`"
  }

  private func configuration(_ state: Wire.ConfigurationState) -> [String] {
    let since = "in force since \(clock(state.sinceMicroseconds))"
    return [since] + state.directories.map { "from \(printable($0))" }
      + (state.problems + (state.held ?? []).filter { !state.problems.contains($0) }).map { paint($0.line(), .bad) }
  }

  private func store(_ store: Wire.StoreState) -> [String] {
    [printable(store.directory)] + (store.problem.map { [paint(printable($0), .bad)] } ?? [])
  }

  /// The mistakes and warnings of a configuration, a line each, and the number of mistakes.
  func text(_ problems: [Wire.Problem]) -> [String] {
    let lines = problems.map { $0.isWarning == true ? "warning: \($0.line())" : $0.line() }
    let mistakes = problems.filter { $0.isWarning != true }
    guard !mistakes.isEmpty else { return lines + ["No mistakes."] }
    let files = Set(mistakes.map(\.file)).count
    return lines + ["\(count(mistakes.count, "mistake")) in \(count(files, "file"))."]
  }
}

extension Wire.Problem {
  /// The problem in one line, after its location as `file:line:column`, which editors understand.
  func line() -> String {
    let location = [file, line.map(String.init), column.map(String.init)].compactMap(\.self).joined(separator: ":")
    return printable([location, key, "\(message); \(remedy)"].compactMap(\.self).joined(separator: ": "))
  }
}

extension Screen {
  /// The push bridge and its sources, a line each.
  func text(_ push: Wire.PushState) -> [String] {
    let since = "bridge since \(clock(push.sinceMicroseconds))"
    let network = push.mayConnect ? "" : "; it waits for a network that it may use"
    guard !push.sources.isEmpty else { return ["\(since), without a source; add one to push.toml"] }
    return [since + network] + push.sources.flatMap { lines($0, push) }
  }

  /// A sentence about the sources that cannot connect or deliver only some of their messages; nil if all work.
  func sentence(_ push: Wire.PushState) -> String? {
    let troubled = push.sources.filter { $0.problem != nil }
    guard push.mayConnect, !troubled.isEmpty else { return nil }
    func sentence(_ sources: [Wire.Source], _ end: String) -> String? {
      let names = sources.map { printable($0.name) }.joined(separator: ", ")
      return sources.isEmpty ? nil : "\(count(sources.count, "push source is", "push sources are")) \(end): \(names)."
    }
    return [
      sentence(troubled.filter { !$0.isConnected }, "not connected"),
      sentence(troubled.filter(\.isConnected), "connected for some apps only"),
    ].compactMap(\.self).joined(separator: " ")
  }

  /// The state of a source, wrapped to the column of the facts.
  private func lines(_ source: Wire.Source, _ push: Wire.PushState) -> [String] {
    let isTrouble = push.mayConnect && source.problem != nil
    return wrapped(words(source), within: max(20, readableWidth - 18)).map { paint($0, isTrouble ? .bad : .plain) }
  }

  private func words(_ source: Wire.Source) -> String {
    let name = "\(printable(source.name)) (\(source.kind.rawValue))"
    let refused = source.refused == 0 ? "" : ", \(source.refused) refused"
    let messages = "\(count(source.received, "message"))\(refused)"
    let since = clock(source.sinceMicroseconds)
    let problem = source.problem.map { ": \(printable($0))" } ?? ""
    if source.isConnected { return "\(name): connected since \(since), \(messages)\(problem)" }
    let retry = source.retryMicroseconds.map { "; next attempt \(relativeAndClock($0))" } ?? ""
    return "\(name): not connected since \(since), \(messages)\(problem)\(retry)"
  }
}
