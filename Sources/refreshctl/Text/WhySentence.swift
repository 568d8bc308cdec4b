import RefreshAPI

extension Screen {
  /// When and why an app is refreshed next, or why it is not, in a sentence or two.
  func sentence(_ why: Wire.Explanation) -> String {
    let state = "\(printable(why.name)) is \(why.phase.words)"
    if let running = why.running {
      let waits = why.launcherProblem.map { " A task that has not started waits: \(printable($0))." }
      return sentence(state, running) + (waits ?? "")
    }
    switch why.verdict {
    case .refreshing, .ready: return "\(state). It is refreshed now."
    case .held: return "\(state). \(held(why))"
    case .notDue:
      guard let window = why.window else { return "\(state). No refresh is planned." }
      if let habit = habit(why) {
        return "\(state). It is opened \(words(habit)), so it will be refreshed \(time(window))."
      }
      return "\(state). It will be refreshed \(time(window))\(because(why))."
    }
  }

  /// `in 2 h 12 min (today 14:12)`, or `between today 14:12 and today 14:19` for a window of a minute or more.
  private func time(_ window: Wire.Window) -> String {
    let (earliest, latest) = (window.earliestMicroseconds, window.latestMicroseconds)
    guard latest - earliest >= 60_000_000 else { return relativeAndClock(earliest) }
    return "between \(clock(earliest)) and \(clock(latest)) (\(relative(earliest)))"
  }

  /// The habit that explains the next refresh, if its plan made the moment and no floor, ceiling or server did.
  private func habit(_ why: Wire.Explanation) -> Wire.Habit? {
    guard why.trigger == .interval, why.phase == .background, let planning = why.planning, !planning.isDormant,
      !isServers(why), planning.plannedMicroseconds > why.floorMicroseconds ?? .min, !isAtCeiling(planning),
      why.window.map({ $0.earliestMicroseconds <= planning.plannedMicroseconds }) ?? false
    else { return nil }
    return planning.habit
  }

  /// Whether the age limit made the moment; a plan is off by less than a second.
  private func isAtCeiling(_ planning: Wire.Planning) -> Bool {
    planning.plannedMicroseconds + 1_000_000 >= planning.ceilingMicroseconds
  }

  /// Whether the next refresh waits for what a server has said.
  private func isServers(_ why: Wire.Explanation) -> Bool {
    why.window.map { $0.earliestMicroseconds == why.freshUntilMicroseconds } ?? false
  }

  private func because(_ why: Wire.Explanation) -> String {
    if why.trigger == .interval, isServers(why) { return ", because its server has nothing newer before that" }
    if why.trigger == .interval, why.phase == .background, let planning = why.planning { return plan(planning, why) }
    if why.trigger == .push, let limit = why.pushLimit, why.pushes?.contains(where: { $0.wait == "limit" }) == true {
      return ", when its limit lets the next push through: \(limit.used) pushes in the last \(limit.span)"
    }
    guard why.trigger == .manual, let oneShot = why.oneShot, !oneShot.reason.isEmpty else {
      return reason(why.trigger, why.phase, why.interval)
    }
    return ", because somebody asked for it: “\(printable(oneShot.reason))”"
  }

  private func plan(_ planning: Wire.Planning, _ why: Wire.Explanation) -> String {
    if planning.isDormant { return ", when its data reaches the age limit: it is hardly ever opened" }
    if let floor = why.floorMicroseconds, planning.plannedMicroseconds <= floor {
      return why.interval.map { ", the first moment that its \(why.phase.hyphenated) interval of \($0.inForce) allows" }
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
      return "It is held for a mistake in its file, which is looked at again every few minutes and by "
        + "`refreshctl reload`: \(printable(hold.remedy))"
    }
    if names.contains("logged-out") { return "It is not refreshed until `refreshctl login \(why.id)`." }
    if names.contains("disabled") { return "It is disabled: not refreshed until `refreshctl enable \(why.id)`." }
    if names.contains("stopping") { return "It is not refreshed now: the daemon is stopping." }
    if names.contains("never") {
      return "It is not refreshed by time, because its \(why.phase.hyphenated) interval is never; "
        + "`refreshctl run \(why.id)` refreshes it now."
    }
    let each = why.holds.map { wait($0, why) }
    let waits = (each.dropLast().isEmpty ? [] : [each.dropLast().joined(separator: ", for ")]) + each.suffix(1)
    let text = waits.joined(separator: " and for ")
    // A wait begins anew when its holds change, so the app may be due since before.
    let since = [why.waiting?.sinceMicroseconds, why.window?.earliestMicroseconds].compactMap(\.self).min()
    guard let since, since <= now else {
      return "It waits for \(text)\(end(why))."
    }
    return "It is due since \(clock(since)) but waits for \(text)\(end(why))."
  }

  /// The end that a hold waits for, and the current state.
  private func wait(_ hold: Wire.Hold, _ why: Wire.Explanation) -> String {
    if let term = why.terms.first(where: { $0.constraint == hold.name }) {
      let source = term.source.isEmpty ? "" : ", \(printable(term.source)) says so"
      let has = term.has.map { printable($0) + source } ?? "unknown"
      return "\(printable(term.waitsFor ?? term.needs)) (\(has))"
    }
    let until = hold.untilMicroseconds.map { " (\(clock($0)))" } ?? ""
    return switch hold.name {
    case "quiet": "the end of its quiet hours\(until)"
    case "paused": "the end of the pause of all apps" + (why.pause.map { " (\(end($0)))" } ?? "")
    case "power-saver": "another power profile than power-saver"
    case "settling": "the machine to settle after its start"
    case "suspending": "the machine to sleep and wake up"
    case "app": "the app: no process of it is attached, and its file has no task"
    case "concurrency": "a free slot: too many refreshes run"
    default: "\(printable(hold.name)) to end (\(printable(hold.remedy)))"
    }
  }

  /// The latest time at which the scheduler ignores the holds, if it ignores all of them at some time.
  private func end(_ why: Wire.Explanation) -> String {
    let constraints = why.holds.compactMap { hold in why.terms.first { $0.constraint == hold.name } }
    let ends = constraints.compactMap(\.relaxedMicroseconds)
    guard constraints.count == why.holds.count, ends.count == constraints.count, let last = ends.max() else {
      return ""
    }
    let without = constraints.map(\.constraint) == ["network"] ? "it will use any network" : "it will do without"
    return "; at the latest \(clock(last)) \(without)"
  }
}
