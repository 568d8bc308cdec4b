import RefreshAPI

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
      ?? "nobody knows what there is"
    let relaxed = term.relaxedMicroseconds.map { "no longer needed from \(clockAndRelative($0))" }
    return (["needs \(printable(term.waitsFor ?? term.needs))", has] + [relaxed].compactMap(\.self))
      .joined(separator: "; ")
  }
}
