import RefreshAPI

extension Screen {
  /// The time and the reason of an app's next refresh, or why there is none, in a sentence or two.
  func sentence(_ why: Wire.Explanation) -> String {
    if let guarded = why.guarded { return sentence(why, guarding: guarded) }
    let state = "\(named(why.name, why.id)) is \(why.phase.words)"
    if let running = why.running {
      let waits = why.launcherProblem.map { " A task that has not started waits: \(printable($0))." }
      return sentence(state, running) + (waits ?? "")
    }
    return "\(state). \(nextSentence(why))" + (pushSentence(why) ?? "")
  }

  /// The next start, or the holds that keep it now or when it is due.
  private func nextSentence(_ why: Wire.Explanation) -> String {
    switch why.verdict {
    case .refreshing, .ready: return "It is refreshed now."
    case .clear: return "Nothing keeps its unit from running."
    case .held: return held(why)
    case .notDue:
      let next = why.whatIsNext
      guard let due = next.due else { return "No refresh is planned." }
      if !next.holds.isEmpty {
        return "Due \(relativeAndClock(due.earliestMicroseconds)); then it waits\(waits(for: next, why))."
      }
      let time = time(next.start ?? due)
      if let planned = next.plannedMicroseconds, !why.isSkipped, !why.isResting {
        return "It will be refreshed \(time), as far as is known now; the plan is made \(clock(planned))."
      }
      if let habit = habit(why) { return "It is opened \(words(habit)), so it will be refreshed \(time)." }
      return "It will be refreshed \(time)\(because(why))."
    }
  }

  /// `in 2 h 12 min (today 14:12)`, or `between today 14:12 and today 14:19` for a window of a minute or more.
  func time(_ window: Wire.Window) -> String {
    let (earliest, latest) = (window.earliestMicroseconds, window.latestMicroseconds)
    guard latest - earliest >= 60_000_000 else { return relativeAndClock(earliest) }
    return "between \(clock(earliest)) and \(clock(latest)) (\(relative(earliest)))"
  }

  /// The habit that explains the next refresh; nil if a floor, a ceiling or a server set the time instead.
  private func habit(_ why: Wire.Explanation) -> Wire.Habit? {
    guard why.nextTrigger == .interval, why.phase == .background, let planning = why.planning, !planning.isDormant,
      !isServers(why), !isAtLimitOfServers(why), !why.isSkipped, !why.isResting, !isAtCeiling(planning),
      planning.plannedMicroseconds > why.floorMicroseconds ?? .min,
      why.window.map({ $0.earliestMicroseconds <= planning.plannedMicroseconds }) ?? false
    else { return nil }
    return planning.habit
  }

  /// Whether the age limit set the time; a plan is off by less than a second.
  private func isAtCeiling(_ planning: Wire.Planning) -> Bool {
    planning.plannedMicroseconds + 1_000_000 >= planning.ceilingMicroseconds
  }

  /// Whether the next refresh waits because of a reply of a server.
  private func isServers(_ why: Wire.Explanation) -> Bool {
    why.window.map { $0.earliestMicroseconds == why.freshUntilMicroseconds } ?? false
  }

  /// Whether the age limit ends that wait early, because the server asked for a longer one.
  private func isAtLimitOfServers(_ why: Wire.Explanation) -> Bool {
    guard let fresh = why.freshUntilMicroseconds, let earliest = why.window?.earliestMicroseconds else { return false }
    return earliest < fresh && [why.staleMicroseconds, why.planning?.ceilingMicroseconds].contains(earliest)
  }

  private func because(_ why: Wire.Explanation) -> String {
    let trigger = why.nextTrigger
    if why.isSkipped {
      return why.skipsAll == true
        ? ", because refreshes by time are skipped until then (`refreshctl skip \(why.id) --end` ends that)"
        : ", because the refresh before it is skipped"
    }
    if why.isResting { return ", after a rest: it exceeded its deadline three times within a day" }
    if trigger == .interval, isServers(why) { return ", because its server has nothing newer before that" }
    if trigger == .interval, isAtLimitOfServers(why), let fresh = why.freshUntilMicroseconds {
      return ", when its data reaches the age limit, although its server has nothing newer before \(clock(fresh))"
    }
    if trigger == .interval, why.phase == .background, let planning = why.planning { return plan(planning, why) }
    if trigger == .push, let limit = why.pushLimit, why.pushes?.contains(where: { $0.wait == "limit" }) == true {
      let used = count(limit.used, "push", "pushes")
      return ", when its limit lets the next push through: \(used) in the last \(limit.span)"
    }
    if trigger == .change, let change = why.change { return ", because of a change in \(printable(change.folder))" }
    guard trigger == .manual, let oneShot = why.oneShot, !oneShot.reason.isEmpty else {
      return reason(trigger, why.phase, why.interval, after: why.past.lazy.compactMap(\.refresh).first)
    }
    return ", because somebody asked for it: “\(printable(oneShot.reason))”"
  }

  private func plan(_ planning: Wire.Planning, _ why: Wire.Explanation) -> String {
    if planning.isDormant { return ", when its data reaches the age limit: it is hardly ever opened" }
    if let floor = why.floorMicroseconds, planning.plannedMicroseconds <= floor {
      return why.interval.map { ", as soon as its \(why.phase.hyphenated) interval of \($0.inForce) allows" }
        ?? ""
    }
    if isAtCeiling(planning) { return ", when its data reaches the age limit" }
    guard let minute = planning.likelyOpeningMinutes else { return ", when the daemon expects the most benefit" }
    return ", when the daemon expects the most benefit: it is usually opened around \(time(minute))"
  }

  /// The reason why a held app is not refreshed.
  func held(_ why: Wire.Explanation) -> String {
    let names = why.holds.map(\.name)
    if let hold = why.holds.first(where: { $0.name == "misconfigured" }) {
      return "It is held for a mistake in its file. refreshd reads the file again every few minutes and on "
        + "`refreshctl reload`: \(printable(hold.remedy))"
    }
    if names.contains("logged-out") {
      let user = why.awaitsSessionOf.map { "\(printable($0)) has a session, or until " } ?? ""
      let disabled = names.contains("disabled") ? " It is disabled as well (`refreshctl enable \(why.id)`)." : ""
      return "It is not refreshed until \(user)`refreshctl login \(why.id)`.\(disabled)"
    }
    if names.contains("disabled") { return "It is disabled: not refreshed until `refreshctl enable \(why.id)`." }
    if names.contains("stopping") { return "It is not refreshed now: the daemon is stopping." }
    if names.contains("never") {
      return "It is not refreshed by time, because its \(why.phase.hyphenated) interval is never; "
        + "`refreshctl run \(why.id)` refreshes it now."
    }
    let text = waits(for: why.whatIsNext, why)
    // A wait starts again when its holds change, so the app may have been due earlier.
    let since = [why.waiting?.sinceMicroseconds, why.window?.earliestMicroseconds].compactMap(\.self).min()
    guard let since, since <= now else { return "It waits\(text)." }
    return "It is due since \(clock(since)) but waits\(text)."
  }

  /// The holds of the next refresh and their end, to follow "waits".
  func waits(for next: Wire.Next, _ why: Wire.Explanation) -> String {
    if next.holds.map(\.name) == ["paused"], let pause = why.pause {
      let resume = "`refreshctl resume`"
      let end = pause.untilMicroseconds == nil && !pause.untilAC ? resume : "\(end(pause)), or \(resume)"
      return ": all apps are paused (\(end))\(self.end(next, why))"
    }
    let each = next.holds.map { wait($0, why) }
    let waits = (each.dropLast().isEmpty ? [] : [each.dropLast().joined(separator: ", for ")]) + each.suffix(1)
    return " for \(waits.joined(separator: " and for "))\(end(next, why))"
  }

  /// The refresh that a process should have completed by now.
  func text(_ late: Wire.LateProcess) -> String {
    let process = late.pid == 0 ? "a process" : "process \(late.pid)"
    return
      "\(process) is attached and has not completed refresh \(late.refresh), given up \(clock(late.sinceMicroseconds))"
  }

  /// The required value of a hold, and its present value.
  private func wait(_ hold: Wire.Hold, _ why: Wire.Explanation) -> String {
    if let term = why.terms.first(where: { $0.constraint == hold.name }) {
      let source = term.source.isEmpty ? "" : ", \(printable(term.source)) says so"
      let has = term.question.map { answer($0, term) } ?? term.has.map { printable($0) + source } ?? "unknown"
      return "\(printable(term.waitsFor ?? term.needs)) (\(has))"
    }
    let quietEnd =
      hold.untilMicroseconds.map { until in
        " (\(why.quiet.map { end(of: $0, at: until) } ?? clock(until)))"
      } ?? ""
    let until = hold.untilMicroseconds.map { " (until \(clock($0)))" } ?? ""
    return switch hold.name {
    case "quiet": "the end of its quiet hours\(quietEnd)"
    case "paused": "the end of the pause of all apps" + (why.pause.map { " (\(end($0)))" } ?? "")
    case "power-saver": "another power profile than power-saver"
    case "unsteady": "its conditions to be met for a while\(until)"
    case "wake-limit": "a free wake: its ended transfers have already woken it as often as they may\(until)"
    case "settling": "the machine to settle after its start or its sleep\(until)"
    case "suspending": "the machine to sleep and wake up"
    case "app" where hold.untilMicroseconds != nil: "its process, which was attached before refreshd started\(until)"
    case "app":
      "the app: \(why.late.map { "\(text($0)), and" } ?? "no process is attached, and") its file has no task"
    case "concurrency": "a free slot: too many refreshes run"
    default: "\(printable(hold.name)) to end (\(printable(hold.remedy)))"
    }
  }

  /// The last answer of a condition's command, and the time of the next question.
  func answer(_ question: Wire.Question, _ term: Wire.Term) -> String {
    let said = term.has.map { has in printable(has) + (question.answeredMicroseconds.map { ", \(clock($0))" } ?? "") }
    if question.isAsked { return [said, "it is being asked now"].compactMap(\.self).joined(separator: "; ") }
    guard let said else { return "it is asked when the app is due" }
    return said + (question.nextMicroseconds.map { $0 > now ? "; asked again \(relativeAndClock($0))" : "" } ?? "")
  }

  /// The time that alone ends the holds, if the sentence does not say it yet.
  private func end(_ next: Wire.Next, _ why: Wire.Explanation) -> String {
    let terms = next.holds.compactMap { hold in why.terms.first { $0.constraint == hold.name } }
    let isNetwork = terms.map(\.constraint) == ["network"] && next.holds.count == 1
    let without = isNetwork ? "it will use any network" : "it will do without"
    guard let start = next.start?.earliestMicroseconds else {
      // Time relaxes the app's demands on the network, but a network must exist.
      guard isNetwork, let relaxed = terms.first?.relaxedMicroseconds, relaxed > now else { return "" }
      return "; from \(clock(relaxed)) on any network will do"
    }
    // A condition's command may answer yes at any time.
    if terms.contains(where: { $0.question != nil }) { return "" }
    if terms.count == next.holds.count { return "; at the latest \(clock(start)) \(without)" }
    if next.holds.map(\.untilMicroseconds) == [start] { return "" }
    return "; it starts \(terms.isEmpty ? "" : "at the latest ")\(clockAndRelative(start))"
  }

  /// A sentence about the first push that waits for its own reason; nil if there is none.
  private func pushSentence(_ why: Wire.Explanation) -> String? {
    guard let push = why.pushes?.first, push.wait != "ready", why.whatIsNext.trigger != .push else { return nil }
    let waiting = why.pushes?.count ?? 1
    let pushes = waiting == 1 ? " A push waits" : " \(waiting) pushes wait"
    if push.wait == "terminated" {
      return "\(pushes): the user has quit the app; start it, or run `refreshctl launched \(why.id)`."
    }
    return "\(pushes): the first \(words(push, of: why))."
  }
}

extension Wire.Explanation {
  /// The next refresh; computed from the reply for an older daemon, which sends no `next`.
  fileprivate var whatIsNext: Wire.Next {
    next ?? Wire.Next(trigger: trigger, due: window, holds: holds, start: holds.isEmpty ? window : nil)
  }

  /// The trigger of the next refresh: a push may be let through at the very end of the interval.
  fileprivate var nextTrigger: Wire.Trigger? { next?.trigger ?? trigger }

  /// Whether the next refresh is the first after the skipped ones; a retry also waits until the skip ends.
  fileprivate var isSkipped: Bool {
    isByTime(at: skippedUntilMicroseconds)
      || skipsAll == true && nextTrigger == .retry && window?.earliestMicroseconds == skippedUntilMicroseconds
  }

  /// Whether the next refresh waits for the end of a rest, or for its age limit during one.
  fileprivate var isResting: Bool {
    guard nextTrigger == .interval, phase == .background, let rest = restsUntilMicroseconds else { return false }
    return isByTime(at: rest) || planning == nil && (window?.earliestMicroseconds ?? 0) > floorMicroseconds ?? 0
  }

  private func isByTime(at moment: Int64?) -> Bool {
    nextTrigger == .interval && moment != nil && window?.earliestMicroseconds == moment
  }
}

extension Screen {
  /// The holds that keep a refresh from starting, each with what it has and needs.
  ///
  /// `why` has the terms of the app's constraints; nil if they are unknown. `mayForce` says whether to offer
  /// `--anyway`.
  func text(_ holds: [Wire.Hold], of app: String, _ why: Wire.Explanation?, mayForce: Bool) -> [String] {
    var facts = Facts()
    for hold in holds {
      facts.add(printable(hold.name), words(hold, why?.terms.first { $0.constraint == hold.name }))
    }
    let constraints = Set(why?.terms.map(\.constraint) ?? [])
    let isForceable = mayForce && !holds.isEmpty && holds.allSatisfy { constraints.contains($0.name) }
    let force = isForceable ? "; `refreshctl run \(app) --anyway` refreshes it now" : ""
    return ["\(printable(app)) is held:"] + facts.lines(on: self)
      + wrapped("It is refreshed when nothing holds it, also after Ctrl-C\(force).")
  }

  private func words(_ hold: Wire.Hold, _ term: Wire.Term?) -> String {
    let until = hold.untilMicroseconds.map { "until \(clockAndRelative($0))" }
    guard let term else { return [until, printable(hold.remedy)].compactMap(\.self).joined(separator: "; ") }
    let source = term.source.isEmpty ? "" : " (\(printable(term.source)))"
    let has =
      term.question.map { answer($0, term) } ?? term.has.map { "has \(printable($0))\(source)" }
      ?? "unknown"
    let relaxed = term.relaxedMicroseconds.map { "no longer needed from \(clockAndRelative($0))" }
    return (["needs \(printable(term.waitsFor ?? term.needs))", has] + [relaxed].compactMap(\.self))
      .joined(separator: "; ")
  }

  /// Whether the unit of a guard may run, and the holds that keep it, in a sentence or two.
  func sentence(_ why: Wire.Explanation, guarding guarded: Wire.Guarded) -> String {
    let unit = printable(guarded.unit)
    let state = "\(named(why.name, why.id)) guards \(unit)."
    let trouble = guarded.trouble.map { " \(sentenceCase(printable($0)))." } ?? ""
    guard why.verdict == .held else { return "\(state) Nothing keeps it from running.\(trouble)" }
    let verb = guarded.means == "freeze" ? "frozen" : "stopped"
    return "\(state) \(kept(why, guarded, verb))\(trouble)"
  }

  private func kept(_ why: Wire.Explanation, _ guarded: Wire.Guarded, _ verb: String) -> String {
    let names = why.holds.map(\.name)
    if let lasting = lasting(names, why, verb) { return lasting }
    let report = guarded.state.flatMap { $0 == "not running" ? nil : " (\(printable($0)))" } ?? ""
    let state = guarded.isKept ? "It is \(verb)" : "It may not run\(report)"
    let end = why.holds.compactMap(\.untilMicroseconds).max()
    if names == ["unsteady"], let end {
      return "\(state) until \(clock(end)): its conditions are met, but must stay so until then."
    }
    return "\(state), because it waits\(waits(for: Wire.Next(holds: why.holds), why))."
  }

  private func lasting(_ names: [String], _ why: Wire.Explanation, _ verb: String) -> String? {
    if names.contains("misconfigured") || names.contains("logged-out") { return held(why) }
    if names.contains("disabled") {
      return "The app is disabled: its unit is kept \(verb) until `refreshctl enable \(why.id)`."
    }
    if names.contains("stopping") { return "The daemon is stopping." }
    return nil
  }

  private func sentenceCase(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

  /// The unit of a guard and its state, for the table of facts.
  func text(_ guarded: Wire.Guarded) -> String {
    if let state = guarded.state { return "\(printable(guarded.unit)): \(printable(state))" }
    return
      "\(printable(guarded.unit)), \(guarded.means == "freeze" ? "frozen" : "stopped") while anything holds the app"
  }

  /// A guard in the status: its unit, and the holds that keep it.
  func text(_ guards: Wire.Guard) -> String {
    let holds = guards.holds.map(printable).joined(separator: ", ")
    let state = guards.holds.isEmpty ? "may run" : "\(printable(guards.guarded.state ?? "may not run")) (\(holds))"
    let trouble = guards.guarded.trouble.map { "; \(printable($0))" } ?? ""
    return "\(printable(guards.guarded.unit)): \(state)\(trouble)"
  }
}
