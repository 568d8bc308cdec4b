// An app's own conditions that commands answer: when to ask, and how long an answer counts.

/// An app's own condition that a command answers, and the last answer.
struct ConditionQuestion: Hashable, Sendable {
  /// How long a yes counts at least; it counts on while nothing but a slot is missing.
  static let validity = Duration.minutes(1)
  /// The least time between two questions, so that a network that comes and goes asks no more often.
  private static let leastDistance = Duration.seconds(10)

  /// The last answer; nil before the first.
  private(set) var answer: FactState?
  /// When the last answer came, boot clock.
  private(set) var answeredAt: Instant?
  /// How many answers in a row were no.
  private var unmet: Int32 = 0
  /// The earliest next question, boot clock; nil for now.
  private(set) var nextAt: Instant?
  /// The run of the command that is being asked.
  private(set) var asked: RunID?
  /// Whether a guard's yes is in doubt after a change; the unit stays as it is until the next answer.
  private var isDoubtful = false
  /// Whether a yes outlives its validity, because the app has waited for nothing but a slot since.
  private var isExtended = false

  /// Whether the last answer is a yes that still counts.
  func isMet(at now: Instant, for validity: Duration) -> Bool {
    guard let answer, answer.isMet, let answeredAt else { return false }
    return isExtended || now < answeredAt + validity
  }

  /// Extends the validity of a yes while the app waits for nothing but a slot; false ends that.
  mutating func extend(whileQueued isQueued: Bool, at now: Instant) {
    isExtended = isQueued && isMet(at: now, for: Self.validity)
  }

  /// Whether no answer has come, or the last answer is in doubt.
  var isUnanswered: Bool { answer == nil || isDoubtful }

  /// Whether the last answer was not no; a question without an answer may be met.
  var mayBeMet: Bool { answer?.isMet ?? true }

  /// When the command of a guard whose unit runs is asked again, boot clock; nil while it is being asked.
  var asksAgainAt: Instant? {
    asked == nil ? nextAt ?? answeredAt.map { $0 + Judge.answerLife.part(of: 2) } : nil
  }

  /// Marks the question as asked by a run.
  mutating func ask(by run: RunID) { (asked, nextAt) = (run, nil) }

  /// Takes the question back; the command is asked when nothing else holds the app.
  mutating func withdraw() { asked = nil }

  /// Applies an answer; each no in a row doubles the wait for the next question.
  mutating func applyAnswer(_ state: FactState, at now: Instant) {
    (answer, answeredAt, asked, isDoubtful, isExtended) = (state, now, nil, false, false)
    unmet = state.isMet ? 0 : BackOff.questions.counting(unmet)
    nextAt = state.isMet ? nil : now + BackOff.questions.wait(after: unmet)
  }

  /// Has the command asked again soon, because the answer may have changed.
  ///
  /// If a unit of a guard runs by the last yes (`ofGuard`), that yes is now in doubt.
  mutating func askSooner(at now: Instant, ofGuard: Bool) {
    guard let answeredAt, nextAt != nil || ofGuard else { return }
    unmet = 0
    isDoubtful = ofGuard && mayBeMet
    let soon = max(now, answeredAt + Self.leastDistance)
    nextAt = min(nextAt ?? soon, soon)
  }
}

/// The questions that commands answer for one app, by constraint.
struct Questions: Hashable, Sendable {
  private var questions: [Constraint: ConditionQuestion] = [:]

  /// Whether none was ever asked.
  var isEmpty: Bool { questions.isEmpty }

  /// The question of a constraint; nil before it is first asked.
  subscript(constraint: Constraint) -> ConditionQuestion? { questions[constraint] }

  /// Whether a run asks an open question.
  func isAsked(by run: Run) -> Bool { run.constraint.map { questions[$0]?.asked == run.id } ?? false }

  /// Whether the command of a constraint may be asked: it is not being asked, and has not just said no.
  func mayAsk(_ constraint: Constraint, at now: Instant) -> Bool {
    let question = questions[constraint] ?? ConditionQuestion()
    return question.asked == nil && question.nextAt.map { $0 <= now } ?? true
  }

  /// Records that a run asks the command of a constraint.
  mutating func ask(_ constraint: Constraint, by run: RunID) {
    questions[constraint, default: ConditionQuestion()].ask(by: run)
  }

  /// Applies the answer of a run; false if no open question is its.
  mutating func applyAnswer(_ run: Run, _ state: FactState, at now: Instant) -> Bool {
    guard isAsked(by: run), let constraint = run.constraint else { return false }
    questions[constraint]?.applyAnswer(state, at: now)
    return true
  }

  /// Takes back a question that was not asked; false if no open question is the run's.
  mutating func withdraw(_ run: Run) -> Bool {
    guard isAsked(by: run), let constraint = run.constraint else { return false }
    questions[constraint]?.withdraw()
    return true
  }

  /// Extends the validity of each yes while the app waits for nothing but a slot; false ends that.
  mutating func extend(whileQueued isQueued: Bool, at now: Instant) {
    for constraint in questions.keys { questions[constraint]?.extend(whileQueued: isQueued, at: now) }
  }

  /// Has the commands that said no asked again soon; see ``ConditionQuestion/askSooner(at:ofGuard:)``.
  mutating func askSooner(at now: Instant, ofGuard isGuard: Bool) {
    for constraint in questions.keys { questions[constraint]?.askSooner(at: now, ofGuard: isGuard) }
  }

  /// Forgets the answers about own conditions that the app's new file has changed.
  mutating func forgetAnswers(to constraints: Constraints, unlike before: Constraints) {
    for constraint in Constraint.allCases where constraints.name(of: constraint) != before.name(of: constraint) {
      questions[constraint] = nil
    }
    if constraints.whenDigest != before.whenDigest { questions[.when] = nil }
  }

  /// Forgets all.
  mutating func clear() { questions = [:] }
}

extension Judge {
  /// When the question that holds an app may be asked, boot clock; nil while it is being asked or another hold exists.
  func wakeToAsk(_ app: App, by holds: [Hold]) -> Instant? {
    guard let constraint = constraintToAsk(in: .held(holds)) else { return nil }
    return app.questions[constraint]?.nextAt
  }

  /// Whether only questions hold an app, and none of them was answered with no.
  func isHeldByOpenQuestions(_ app: App, _ holds: [Hold]) -> Bool {
    guard constraintToAsk(in: .held(holds)) != nil, let constraints = app.policy?.constraints else { return false }
    return Constraint.allCases.allSatisfy { constraint in
      constraint.origin != .asked || !constraints.asks(for: constraint)
        || app.questions[constraint]?.mayBeMet ?? true
    }
  }

  /// The holds without questions; if there are none, one question: a question that was answered with no, else the first.
  ///
  /// While anything else holds an app, no question is asked, so its answer is unknown.
  func holdsOrFirstQuestion(_ holds: [Hold], of app: App) -> [Hold] {
    let others = holds.filter { $0.question == nil }
    guard others.isEmpty else { return others }
    let refused = holds.first { $0.question.flatMap { app.questions[$0] }?.mayBeMet == false }
    return [refused ?? holds.first].compactMap(\.self)
  }

  /// The question that holds an app, if nothing else does.
  func constraintToAsk(in verdict: Verdict) -> Constraint? {
    verdict.holds.first?.question
  }
}

extension Hold {
  /// The constraint of the hold, if a command answers it.
  fileprivate var question: Constraint? {
    if case .constraint(let constraint, _) = self, constraint.origin == .asked { constraint } else { nil }
  }
}
