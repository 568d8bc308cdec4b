import RefreshAPI

extension Screen {
  /// The columns for the facts, after their names.
  private var factWidth: Int { max(20, readableWidth - 17) }

  /// An explanation: a sentence, the facts behind it, and the last refreshes and waits.
  func text(_ why: Wire.Explanation) -> [String] {
    var facts = Facts()
    func add(_ name: String, _ text: String, _ style: Style = .plain) {
      facts.add(name, wrapped(text, within: factWidth).map { paint($0, style) })
    }
    if let last = why.past.lazy.compactMap(\.refresh).first { facts.add("last refresh", summary(last)) }
    if let guarded = why.guarded {
      add("unit", text(guarded), guarded.trouble == nil ? .plain : .bad)
    } else {
      add("data age", age(why))
    }
    if let planning = why.planning {
      let until = why.next?.plannedMicroseconds.map { "; planned again \(clock($0))" } ?? ""
      let phase = why.phase == .foreground ? "once in the background: " : ""
      add("plan", phase + plan(planning) + until)
      add("expects", expected(planning))
    }
    if why.isProcessing { add("kind", "long work: only while nobody uses the machine and it is on mains power") }
    for term in why.terms {
      let state = wrapped(text(term), within: factWidth).map { paint($0, term.isMet ? .plain : .bad) }
      let note = term.problem.map { wrapped(printable($0), within: factWidth) } ?? []
      facts.add(printable(term.constraint), state + note.map { paint($0, .faint) })
    }
    if let quiet = why.quiet { add("quiet", text(quiet)) }
    if let presence = why.presence { add("desktop", text(presence, of: why)) }
    add("switch", switches(why), why.isDisabled || why.pause != nil ? .bad : .plain)
    if why.failures > 0 { add("retry", "\(count(why.failures, "failure")) in a row that allow a retry") }
    if let failures = why.failuresInRow {
      add("failures", "\(count(failures, "refresh", "refreshes")) failed in a row", .bad)
    }
    if let late = why.late { add("late", text(late), .bad) }
    if let ping = why.ping { add("ping", text(ping, why.pingProblem), why.pingProblem == nil ? .plain : .bad) }
    if why.strikes > 0 { add("strikes", strikes(why)) }
    if let until = why.freshUntilMicroseconds { add("fresh", "its server has nothing newer before \(clock(until))") }
    if let until = why.skippedUntilMicroseconds { add("skip", "no scheduled refresh before \(clock(until))") }
    if let oneShot = why.oneShot { add("scheduled", text(oneShot)) }
    for folder in why.watched ?? [] { add("watch", text(folder), folder.problem == nil ? .plain : .bad) }
    if let change = why.change { add("change", text(change, of: why)) }
    if let problem = why.pastProblem { add("history", printable(problem), .bad) }
    addPushes(of: why, to: &facts, width: factWidth)
    return wrapped(sentence(why)) + [""] + facts.lines(on: self) + (why.past.isEmpty ? [] : [""] + table(why.past))
  }

  private func age(_ why: Wire.Explanation) -> String {
    let age = why.freshMicroseconds.map { self.age(of: $0) } ?? "no data yet"
    let floor = why.floorMicroseconds.map { ["floor \(clock($0))"] } ?? []
    let ceiling = why.staleMicroseconds.map { ["ceiling \(clock($0))"] } ?? []
    return ([age] + floor + ceiling).joined(separator: ", ")
  }

  private func plan(_ planning: Wire.Planning) -> String {
    let (worth, price) = (Decimal.text(planning.worth), Decimal.text(planning.price))
    let expected = Decimal.text(planning.openingsExpected)
    let factor = planning.price / max(planning.machinePrice * planning.cost, 1e-9)
    let share = factor > 1.01 ? " × \(Decimal.text(factor)) for what it took recently" : ""
    return "refresh \(clock(planning.plannedMicroseconds)), \(expected) openings expected before it; a refresh now "
      + "would save \(worth) min of age, and is worth it from \(price) min (price \(Decimal.text(planning.machinePrice)) × cost "
      + "\(Decimal.text(planning.cost))\(share))"
  }

  /// The numbers that the plan expects: first assumed, later learnt.
  private func expected(_ planning: Wire.Planning) -> String {
    "new data \(Decimal.timesADay(planning.newDataPerDay)), opened \(Decimal.timesADay(planning.openingsPerDay)) "
      + "(`usage` shows what was seen)"
  }

  private func text(_ term: Wire.Term) -> String {
    let has = term.has.map(printable) ?? "unknown"
    let source = term.source.isEmpty ? "" : " (\(printable(term.source)))"
    let met = term.isRelaxed ? "no longer required" : term.isMet ? "met" : "not met"
    var relaxed = ""
    if !term.isRelaxed, let from = term.relaxedMicroseconds { relaxed = ", required until \(clock(from))" }
    if let question = term.question {
      let isOld = term.has != nil && !term.isMet && question.nextMicroseconds == nil
      return "\(printable(term.needs)): \(answer(question, term))" + (isOld || term.has == nil ? "" : ", \(met)")
    }
    return "\(printable(term.needs)): \(has)\(source), \(met)\(relaxed)"
  }

  /// The pinged server, and the last ping if it failed.
  private func text(_ ping: String, _ problem: Wire.PingProblem?) -> String {
    guard let problem else { return "\(printable(ping)) is pinged after each refresh" }
    return "\(printable(ping)) could not be pinged \(clock(problem.atMicroseconds)): \(printable(problem.problem))"
  }

  /// The app's state on the desktops, and whether it counts.
  private func text(_ presence: Wire.Presence, of why: Wire.Explanation) -> String {
    let shown =
      switch presence {
      case .ended: "not open"
      case .running: "open, and not in front"
      case .front: "in front"
      }
    let differs = (presence == .front) != (why.phase == .foreground)
    guard why.isPhaseReported == true, differs else { return shown }
    return "\(shown); but a signal says otherwise, until the app is opened again"
  }

  private func switches(_ why: Wire.Explanation) -> String {
    let app = why.isDisabled ? "disabled" : "enabled"
    return "\(app), " + (why.pause.map { "all apps paused \(end($0))" } ?? "nothing paused")
  }

  private func strikes(_ why: Wire.Explanation) -> String {
    let rest = why.restsUntilMicroseconds.map { "; it rests until \(clock($0))" } ?? ""
    return "\(count(why.strikes, "refresh", "refreshes")) exceeded the deadline within a day\(rest)"
  }

  /// The watched part of a folder, and the reason why it is not all.
  private func text(_ folder: Wire.WatchedFolder) -> String {
    let problem = folder.problem.map { ": " + printable($0) } ?? ""
    let watched = folder.folders == 0 ? "not watched" : count(folder.folders, "folder") + " watched"
    return "\(printable(folder.folder)), \(watched)\(problem)"
  }

  private func text(_ change: Wire.LocalChange, of why: Wire.Explanation) -> String {
    let settle = why.watchSettleMicroseconds.map { ", settled after \(Elapsed.rough($0)) without another" } ?? ""
    return "the last \(clock(change.lastMicroseconds, seconds: true)) in \(printable(change.folder))\(settle)"
  }

  private func text(_ oneShot: Wire.OneShot) -> String {
    let reason = oneShot.reason.isEmpty ? "" : ", “\(printable(oneShot.reason))”"
    return "once, not before \(clock(oneShot.earliestMicroseconds))\(reason)"
  }

  /// A minute of the day: `07:30`.
  func time(_ minutes: Int) -> String { CalendarTime.clock(of: [minutes / 60, minutes % 60]) }

  /// The last refreshes and waits, a line each.
  private func table(_ past: [Wire.Past]) -> [String] {
    var table = Table(titles: ["WHEN", "WHAT", "WHY"], prose: 2)
    for entry in past.prefix(10) {
      if let refresh = entry.refresh {
        let cause = refresh.cause.map { ": \($0.text)" } ?? ""
        let push = refresh.merged.map { " (\(content(refresh.contentID))\(others($0)))" } ?? ""
        table.rows.append([
          Cell(clock(refresh.startedMicroseconds)), outcome(refresh),
          Cell(refresh.trigger.hyphenated + push + cause),
        ])
      }
      if let wait = entry.wait {
        table.rows.append([
          Cell(clock(wait.sinceMicroseconds)), Cell("waited \(wait.span)"),
          Cell("held: " + wait.holds.joined(separator: ", "), .faint),
        ])
      }
    }
    return table.lines(on: self)
  }
}
