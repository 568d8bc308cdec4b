// Conditions of an app's own that a command answers: when to ask, and how long an answer counts.

/// A condition of an app's own that a command answers, and its last answer.
struct ConditionQuestion: Hashable, Sendable {
  /// How long a yes counts at least; it counts on while nothing but a slot is missing.
  static let validity = Duration.minutes(1)
  /// The least time between two questions, so that a network that comes and goes asks no more often.
  static let leastDistance = Duration.seconds(10)

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
  /// Whether a yes counts on, because the app has waited for nothing but a slot since.
  private var isKept = false

  /// Whether the last answer is a yes that still counts.
  func isMet(at now: Instant, for validity: Duration) -> Bool {
    guard let answer, answer.isMet, let answeredAt else { return false }
    return isKept || now < answeredAt + validity
  }

  /// Lets a yes that counts do so while the app waits for nothing but a slot.
  mutating func keep(_ waitsForSlot: Bool, at now: Instant) {
    isKept = waitsForSlot && isMet(at: now, for: Self.validity)
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
    (answer, answeredAt, asked, isDoubtful, isKept) = (state, now, nil, false, false)
    unmet = state.isMet ? 0 : BackOff.questions.counting(unmet)
    nextAt = state.isMet ? nil : now + BackOff.questions.wait(after: unmet)
  }

  /// Asks again soon, because the answer may have changed.
  ///
  /// If a unit of a guard runs by the last yes (`ofGuard`), that yes is now in doubt.
  mutating func hasten(at now: Instant, ofGuard: Bool) {
    guard let answeredAt, nextAt != nil || ofGuard else { return }
    unmet = 0
    isDoubtful = ofGuard && mayBeMet
    let soon = max(now, answeredAt + Self.leastDistance)
    nextAt = min(nextAt ?? soon, soon)
  }
}

extension Engine {
  /// Asks the command of the first question that holds a due app, unless it is being asked or has just said no.
  ///
  /// Nothing is asked while anything else holds the app, so that no command runs in vain.
  mutating func ask(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    var asked = judge.question(of: verdict)
    if asked == nil { asked = judge.questionOfGuard(apps[index], verdict, at: turn.now) }
    guard let constraint = asked else { return }
    var question = apps[index].questions[constraint] ?? ConditionQuestion()
    guard question.asked == nil, question.nextAt.map({ $0 <= turn.now }) ?? true else { return }
    let run = makeRun(of: apps.id(at: index), for: .question(constraint))
    question.ask(by: run.id)
    apps[index].questions[constraint] = question
    turn.decision.effects.append(.ask(run))
  }

  /// Applies the answer of a command, unless the app no longer asks that question.
  mutating func answer(_ run: Run, _ state: FactState, _ turn: inout Turn) {
    guard let constraint = run.constraint, let index = apps.index(of: run.app),
      apps[index].questions[constraint]?.asked == run.id
    else { return }
    apps[index].questions[constraint]?.applyAnswer(state, at: turn.now)
    turn.touch(index)
  }

  /// Whether a question is open, and nothing but questions holds its app.
  public func isAsked(_ run: Run, at now: Instant) -> Bool {
    guard let constraint = run.constraint, let index = apps.index(of: run.app),
      apps[index].questions[constraint]?.asked == run.id
    else { return false }
    let verdict = verdict(on: index, at: now)
    return verdict == .clear || judge.question(of: verdict) != nil
  }

  /// Takes back a question that was not asked, unless the app no longer asks it.
  mutating func withdraw(_ run: Run, _ turn: inout Turn) {
    guard let constraint = run.constraint, let index = apps.index(of: run.app),
      apps[index].questions[constraint]?.asked == run.id
    else { return }
    apps[index].questions[constraint]?.withdraw()
    turn.touch(index)
  }

  /// Asks again soon the commands that said no, because the network has changed or the machine has woken up.
  mutating func askSooner(at now: Instant) {
    for index in schedule.followers where !apps[index].questions.isEmpty { apps[index].askSooner(at: now) }
  }

  /// The answers to assume for all open questions: the last answers; yes for a question without an answer.
  ///
  /// A forecast uses them, because it assumes that nothing changes.
  public var assumedAnswers: [Event] {
    // Few of thousands of held apps have questions.
    schedule.followers.filter { !apps[$0].questions.isEmpty }.flatMap { index in
      Constraint.allCases.compactMap { constraint in
        guard let question = apps[index].questions[constraint], let asked = question.asked else { return nil }
        return .answered(
          Run(asked, of: apps.id(at: index), for: .question(constraint)),
          question.answer ?? FactState(isMet: true, text: "not asked yet"))
      }
    }
  }
}

extension Judge {
  /// When the question that holds an app may be asked, boot clock; nil while it is being asked or another hold exists.
  func wakeToAsk(_ app: App, by holds: [Hold]) -> Instant? {
    guard let constraint = question(of: .held(holds)) else { return nil }
    return app.questions[constraint]?.nextAt
  }

  /// Whether only questions hold an app, and none of them was answered with no.
  func isKeptByOpenQuestions(_ app: App, _ holds: [Hold]) -> Bool {
    guard question(of: .held(holds)) != nil, let constraints = app.policy?.constraints else { return false }
    return Constraint.allCases.allSatisfy { constraint in
      constraint.source != .asked || !constraints.asks(for: constraint)
        || app.questions[constraint]?.mayBeMet ?? true
    }
  }

  /// The holds without questions; if there are none, one question: a question that was answered with no, else the first.
  ///
  /// While anything else holds an app, no question is asked, so its answer is unknown.
  func withQuestionsLast(_ holds: [Hold], of app: App) -> [Hold] {
    let others = holds.filter { $0.question == nil }
    guard others.isEmpty else { return others }
    let refused = holds.first { $0.question.flatMap { app.questions[$0] }?.mayBeMet == false }
    return [refused ?? holds.first].compactMap(\.self)
  }

  /// The question that keeps an app, if nothing else does.
  func question(of verdict: Verdict) -> Constraint? {
    verdict.holds.first?.question
  }
}

extension App {
  /// Forgets the answers to conditions of its own that the app's new file has changed.
  mutating func forgetAnswers(unlike before: Policy?) {
    guard let constraints = policy?.constraints, let old = before?.constraints else { return }
    for constraint in Constraint.allCases where constraints.name(of: constraint) != old.name(of: constraint) {
      questions[constraint] = nil
    }
    if constraints.whenDigest != old.whenDigest { questions[.when] = nil }
  }

  /// Lets each yes count on while the app waits for nothing but a slot.
  mutating func keepAnswers(_ waitsForSlot: Bool, at now: Instant) {
    for constraint in questions.keys { questions[constraint]?.keep(waitsForSlot, at: now) }
  }

  /// Asks again soon the commands that said no.
  mutating func askSooner(at now: Instant) {
    let isGuard = policy?.guarded != nil
    for constraint in Constraint.allCases { questions[constraint]?.hasten(at: now, ofGuard: isGuard) }
  }
}

extension Hold {
  /// The constraint of the hold, if a command answers it.
  fileprivate var question: Constraint? {
    if case .constraint(let constraint, _) = self, constraint.source == .asked { constraint } else { nil }
  }
}
