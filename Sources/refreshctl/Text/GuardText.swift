import RefreshAPI

extension Screen {
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
      return "\(state) until \(clock(end)): what held it has ended, and must stay away until then."
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
