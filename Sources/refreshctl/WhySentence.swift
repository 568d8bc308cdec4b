import RefreshAPI

extension Screen {
  /// Why an app is refreshed when it is, or is not, as a person would say it.
  func sentence(_ why: Wire.Explanation) -> String {
    let place = "\(printable(why.name)) is \(why.phase.words)"
    if let running = why.running {
      let start = relative(running.startedMicroseconds)
      return "\(place) and is being refreshed: \(running.id), \(running.trigger.spelled), started \(start)."
    }
    switch why.verdict {
    case .refreshing, .ready: return "\(place). It is refreshed now."
    case .held: return "\(place). \(held(why))"
    case .notDue:
      guard let window = why.window else { return "\(place). No refresh is planned." }
      return "\(place). It will be refreshed \(time(window))\(because(why))."
    }
  }

  /// `in 2 h 12 min (today 14:12)`, or between which two times where that is a span that a person notices.
  private func time(_ window: Wire.Window) -> String {
    let (earliest, latest) = (window.earliestMicroseconds, window.latestMicroseconds)
    guard latest - earliest >= 60_000_000 else { return "\(relative(earliest)) (\(clock(earliest)))" }
    return "between \(clock(earliest)) and \(clock(latest)) (\(relative(earliest)))"
  }

  private func because(_ why: Wire.Explanation) -> String {
    let isServers = why.window.map { $0.earliestMicroseconds == why.freshUntilMicroseconds } ?? false
    if why.trigger == .interval, isServers { return ", because its server has nothing newer before that" }
    if why.trigger == .interval, why.phase == .background, let planning = why.planning { return plan(planning, why) }
    if why.trigger == .push, let limit = why.pushLimit, why.pushes?.contains(where: { $0.wait == "limit" }) == true {
      return ", when one more push may wake it: \(limit.used) did in the last \(limit.span)"
    }
    guard why.trigger == .manual, let oneShot = why.oneShot, !oneShot.reason.isEmpty else {
      return reason(why.trigger, why.phase, why.interval)
    }
    return ", because somebody asked for it: “\(printable(oneShot.reason))”"
  }

  private func plan(_ planning: Wire.Planning, _ why: Wire.Explanation) -> String {
    if planning.isDormant { return ", when its data is as old as it may become: it is hardly ever opened" }
    if let floor = why.floorMicroseconds, planning.plannedMicroseconds <= floor {
      return why.interval.map { ", the first moment that its \(why.phase.spelled) interval of \($0.inForce) lets" }
        ?? ""
    }
    guard let minute = planning.likelyOpeningMinutes else { return ", when that is worth most by what is learnt of it" }
    return ", when that is worth most: it is usually opened around \(time(minute))"
  }

  /// Why it is not refreshed, or what it waits for.
  func held(_ why: Wire.Explanation) -> String {
    let names = why.holds.map(\.name)
    if names.contains("logged-out") { return "It is not refreshed until `refreshctl login \(why.id)`." }
    if names.contains("disabled") { return "It is disabled: not refreshed until `refreshctl enable \(why.id)`." }
    if names.contains("stopping") { return "It is not refreshed now: the daemon is stopping." }
    if names.contains("never") {
      return "It is not refreshed by time, because its \(why.phase.spelled) interval is never; "
        + "`refreshctl run \(why.id)` does it now."
    }
    let each = why.holds.map { wait($0, why) }
    let waits = (each.dropLast().isEmpty ? [] : [each.dropLast().joined(separator: ", for ")]) + each.suffix(1)
    let text = waits.joined(separator: " and for ")
    // The holds may have changed meanwhile: it is due since the earlier of both.
    let since = [why.waiting?.sinceMicroseconds, why.window?.earliestMicroseconds].compactMap(\.self).min()
    guard let since, since <= now else {
      return "It waits for \(text)\(end(why))."
    }
    return "It is due since \(clock(since)) but waits for \(text)\(end(why))."
  }

  /// What a hold waits for, and what there is instead.
  private func wait(_ hold: Wire.Hold, _ why: Wire.Explanation) -> String {
    if let term = why.terms.first(where: { $0.constraint == hold.name }) {
      let says = term.source.isEmpty ? "" : ", \(printable(term.source)) says so"
      let has = term.has.map { printable($0) + says } ?? "nobody knows what there is"
      return "\(term.need) (\(has))"
    }
    let until = hold.untilMicroseconds.map { " (\(clock($0)))" } ?? ""
    return switch hold.name {
    case "quiet": "the end of its quiet hours\(until)"
    case "paused": "the end of the pause of all apps" + (why.pause.map { " (\(end($0)))" } ?? "")
    case "power-saver": "another power profile than power-saver"
    case "settling": "the machine to settle after its start"
    case "suspending": "the machine to sleep and wake up"
    case "app": "the app: no process of it is attached, and its file has no task"
    case "concurrency": "a place among the refreshes that run"
    default: "\(printable(hold.name)) to end (\(printable(hold.remedy)))"
    }
  }

  /// By when the holds are passed over, if each of them is.
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

extension Wire.Term {
  /// What the app asks for, in a sentence.
  fileprivate var need: String {
    switch (constraint, needs) {
    case ("network", "any"): "a network that reaches the internet"
    case ("network", "unmetered"): "an unmetered network"
    case ("network", "wifi"): "Wi-Fi that reaches the internet"
    case ("network", _): "a network (\(printable(needs)))"
    case ("power", "ac"): "mains power"
    case ("power", "not-low"): "mains power or a battery that is not low"
    case ("calm", _): "a machine without pressure"
    default: printable(needs)
    }
  }
}
