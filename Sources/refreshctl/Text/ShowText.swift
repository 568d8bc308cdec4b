import RefreshAPI

extension Screen {
  /// The state of an app: a summary sentence, then the facts.
  func text(_ app: Wire.AppDetails) -> [String] {
    var facts = Facts()
    if let guarded = app.guarded {
      facts.add("unit", text(guarded))
      if let trouble = guarded.trouble { facts.add("trouble", paint(printable(trouble), .bad)) }
    } else {
      addRefreshes(of: app, to: &facts)
    }
    facts.add("owner", printable(app.owner))
    facts.add("file", printable(app.file))
    return wrapped(sentence(app)) + [""] + facts.lines(on: self)
  }

  private func addRefreshes(of app: Wire.AppDetails, to facts: inout Facts) {
    facts.add("next", next(app))
    if let last = app.last { facts.add("last refresh", summary(last)) }
    facts.add("data age", (app.freshMicroseconds.map { age(of: $0) } ?? "no data yet") + stale(app))
    facts.add("foreground", interval(app.foregroundInterval) + entering(app))
    facts.add("background", interval(app.backgroundInterval))
    let (deadline, grace) = (app.deadlineMicroseconds, app.graceMicroseconds)
    facts.add("deadline", "\(Elapsed.rough(deadline)), then a grace of \(Elapsed.rough(grace))")
    let isMisconfigured = app.holds.contains { $0.name == "misconfigured" }
    let none =
      isMisconfigured
      ? "none until the mistake in its file is corrected" : "none: the app refreshes itself while a process is attached"
    facts.add("tasks", app.tasks.isEmpty ? [none] : app.tasks.map(task))
    if let process = app.attachedPID { facts.add("attached", "process \(process), which performs the refreshes") }
  }

  /// The phase of the app, with the time and the reason of the next refresh.
  func sentence(_ app: Wire.AppDetails) -> String {
    if let guarded = app.guarded {
      let state = "\(named(app.name, app.id)) guards \(printable(guarded.unit))."
      guard app.verdict == .held else { return "\(state) Nothing keeps it from running." }
      return "\(state) It may not run now, because the app is held: \(app.holds.namesAndRemedies)."
    }
    let state = "\(named(app.name, app.id)) is \(app.phase.words)"
    if let running = app.running { return sentence(state, running) }
    switch app.verdict {
    case .refreshing, .ready: return "\(state). It is refreshed now."
    case .clear: return "\(state)."
    case .held:
      return "\(state). It is not refreshed by itself, because it is held: \(app.holds.namesAndRemedies)."
    case .notDue:
      guard let due = app.dueAt else { return "\(state). No refresh is planned." }
      if let next = app.next, !next.holds.isEmpty {
        let start = next.start.map { ", until \(clockAndRelative($0.earliestMicroseconds)) at the latest" } ?? ""
        return "\(state). Due \(relativeAndClock(due)); then it is held: \(next.holds.namesAndRemedies)\(start)."
      }
      let when = (app.next?.start ?? app.next?.due).map(time) ?? relativeAndClock(due)
      return "\(state). It will be refreshed \(when)\(reason(app, due))."
    }
  }

  /// The reason for the next refresh, as far as the app's state proves it: only `why` knows delays by a plan, skip or
  /// server.
  private func reason(_ app: Wire.AppDetails, _ due: Int64) -> String {
    let interval = app.phase == .foreground ? app.foregroundInterval : app.backgroundInterval
    let trigger = app.next?.trigger ?? app.dueTrigger
    if trigger == .interval {
      guard let last = app.last, let span = interval.inForceMicroseconds else { return "" }
      // A fixed background interval does not count from a late start.
      let isFixed = app.phase == .background && interval.inForce != "auto"
      let early = isFixed ? span : 1_000_000
      guard (-early...1_000_000).contains(due - last.startedMicroseconds - span) else { return "" }
    }
    return reason(trigger, app.phase, interval, after: app.last)
  }

  /// A sentence about a running refresh, after the state of its app.
  func sentence(_ state: String, _ running: Wire.Running) -> String {
    let start = relative(running.startedMicroseconds)
    if running.isStuck == true {
      let pids = running.stuckPids ?? []
      let which = pids.isEmpty ? "one of its processes" : "process \(pids.map(String.init).joined(separator: ", "))"
      return
        "\(state). Its refresh \(running.id), started \(start), does not end: \(which) is blocked in the kernel and "
        + "cannot be killed. The app waits until it ends."
    }
    if running.isAwaitingStore == true {
      return "\(state). Its refresh \(running.id) starts when the disk has saved it; `refreshctl status` says more."
    }
    return "\(state) and is being refreshed: \(running.id), \(running.trigger.hyphenated), started \(start)."
  }

  /// The reason for the next refresh, as the end of a sentence.
  func reason(
    _ trigger: Wire.Trigger?, _ phase: Wire.Phase, _ interval: Wire.Interval?, after last: Wire.Refresh?
  ) -> String {
    switch trigger {
    case nil, .reported: return ""
    case .interval: return interval.map { ", because its \(phase.hyphenated) interval is \(inForce($0))" } ?? ""
    case .foreground: return ", because it came to the foreground with data that was too old"
    case .push: return ", because of a push"
    case .transfer: return ", because its transfers have ended"
    case .retry:
      guard let cause = last?.cause, cause.isNoFailure else { return ", because the last one failed and is retried" }
      return ", because the last one was interrupted (\(printable(cause.text)))"
    case .change: return ", because of a change in its watched folders"
    case .catchUp: return ", because one was missed while the machine or the daemon was off"
    case .manual: return ", because somebody asked for it"
    }
  }

  private func task(_ task: Wire.Task) -> String {
    let after = task.after.isEmpty ? "" : ", after \(task.after.joined(separator: " and "))"
    return printable("\(task.name)\(after)") + ": \(work(of: task))"
  }

  private func work(of task: Wire.Task) -> String {
    if let fetch = task.fetch { return "fetch \(printable(fetch.url)) to \(commandLine([fetch.to]))" }
    if let file = task.transfer {
      return "download \(printable(file.url)) to \(commandLine([file.to])) in the background"
    }
    if let both = task.replicate { return "replicate \(printable(both.source)) to \(printable(both.target))" }
    if let unit = task.unit { return "start \(printable(unit))" }
    if let app = task.activate { return "have \(printable(app)) refresh itself, on the session bus" }
    return commandLine(task.command)
  }

  private func next(_ app: Wire.AppDetails) -> String {
    switch app.verdict {
    case .refreshing, .ready: return "now"
    case .clear: return "-"
    case .held: return "held: \(app.holds.names)"
    case .notDue:
      guard let due = app.dueAt else { return "-" }
      let held = (app.next?.holds).map { $0.isEmpty ? "" : ", then held: \($0.names)" } ?? ""
      let at = held.isEmpty ? app.next?.start?.earliestMicroseconds ?? due : due
      return (held.isEmpty ? "" : "due ") + "\(relative(at)), \(clock(at))\(held)"
        + ((app.next?.trigger ?? app.dueTrigger).map { " (\($0.hyphenated))" } ?? "")
    }
  }

  /// The age limit of the file, and the time since which the data is older.
  private func stale(_ app: Wire.AppDetails) -> String {
    let most = app.staleAfterMicroseconds.map { "; stale after \(Elapsed.rough($0))" } ?? ""
    return most + (app.staleSinceMicroseconds.map { ", \(paint("stale", .bad)) since \(clock($0))" } ?? "")
  }

  private func entering(_ app: Wire.AppDetails) -> String {
    switch app.onForeground {
    case .stale: ""
    case .always: ", and on every entry"
    case .never: ", not on entry"
    }
  }

  /// An interval in force, and the file's interval if `set` has overridden it.
  func interval(_ interval: Wire.Interval) -> String {
    let text = inForce(interval)
    return interval.overridden ? "\(text), set by `refreshctl set`; the file says \(interval.configured)" : text
  }

  private func inForce(_ interval: Wire.Interval) -> String {
    guard let least = interval.inForceMicroseconds else { return interval.inForce }
    return switch interval.inForce {
    case "minimum": "minimum (\(Elapsed.rough(least)))"
    case "auto": "auto (at most every \(Elapsed.rough(least)))"
    default: interval.inForce
    }
  }

  /// Both intervals of apps, after a change.
  func text(_ apps: [Wire.Intervals]) -> [String] {
    var table = Table(titles: ["APP", "FOREGROUND", "BACKGROUND"], prose: 2, keepsAll: true)
    table.rows = apps.map { [Cell($0.app), Cell(interval($0.foreground)), Cell(interval($0.background))] }
    return table.lines(on: self)
  }
}

extension Wire.AppDetails {
  /// The due time, from `next`, or from the reply itself if an older daemon sends no `next`.
  fileprivate var dueAt: Int64? { next == nil ? dueMicroseconds : next?.due?.earliestMicroseconds }
}

/// The arguments as a shell reads them, quoted where needed.
func commandLine(_ arguments: [String]) -> String {
  let plain = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%")
  return arguments.map { argument in
    if !argument.isEmpty, argument.allSatisfy(plain.contains) { return argument }
    return inQuotes(printable(argument))
  }.joined(separator: " ")
}

/// A word in single quotes, as a shell reads it.
///
/// Compares bytes, as a shell does: with a combining mark after it, a quote is another character in Swift.
func inQuotes(_ word: String) -> String {
  let mark = UInt8(ascii: "'")
  var bytes = [mark]
  for byte in word.utf8 {
    if byte == mark { bytes += #"'\''"#.utf8 } else { bytes.append(byte) }
  }
  return String(decoding: bytes + [mark], as: UTF8.self)
}
