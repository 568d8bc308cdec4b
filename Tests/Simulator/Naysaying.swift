import RefreshEngine

/// Apps' own conditions: a disk that comes and goes, and commands that say yes or no.
extension World {
  /// The disk that all such apps require.
  private static let disk = NamedFact(.mounted, "/media/backup")

  /// Gives some policies their own conditions, if the world has any.
  mutating func addOwnConditions(to policy: inout Policy) {
    guard hasOwnConditions else { return }
    if quirk.happens(30) { policy.constraints.mounted = Self.disk.name }
    if quirk.happens(20) { policy.constraints.when = quirk.pick(["vpn", "home"]) }
    if quirk.happens(20) { policy.constraints.reachable = "nas.local:22" }
  }

  /// The present state of the disk.
  var factsObserved: [RefreshEngine.Observation] {
    hasOwnConditions
      ? [
        .fact(
          Self.disk, Reading(FactState(isMet: hasDisk, text: hasDisk ? "mounted" : "not mounted"), source: "kernel"))
      ]
      : []
  }

  /// Makes the disk come or go, or changes the answers of the commands.
  mutating func happenToOwnConditions() {
    expect(.own, in: quirk.duration(quirk.pick([.zero ... .seconds(30), .zero ... .hours(2), .zero ... .hours(9)])))
    if quirk.happens(50) {
      hasDisk.toggle()
      for observation in factsObserved { handle(.observed(observation)) }
    } else {
      saysNo.toggle()
    }
  }

  /// Asks a command, which answers later, even if the daemon is gone by then.
  mutating func ask(_ question: Run) {
    questions[question.id] = question
    expect(
      .answers(question.id),
      in: quirk.duration(quirk.pick([.zero ... .zero, .zero ... .seconds(1), .zero ... .seconds(25)])))
  }

  mutating func answer(_ id: RunID) {
    guard let question = questions.removeValue(forKey: id) else { return }
    let isMet = !saysNo || quirk.happens(10)
    let answer = Event.answered(question, FactState(isMet: isMet, text: isMet ? "yes" : "no"))
    handle(answer)
    if healedAt == nil, quirk.happens(5) { handle(answer) }
  }

  /// Makes the disk stay, and every command say yes.
  mutating func endOwnTroubles() {
    (hasDisk, saysNo) = (true, false)
    for id in questions.keys.sorted() { expect(.answers(id), in: .seconds(1)) }
    for observation in factsObserved { handle(.observed(observation)) }
  }
}
