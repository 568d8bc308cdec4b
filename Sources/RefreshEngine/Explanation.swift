/// Every term of the judgement about one app at one instant.
///
/// Its verdict is ``Engine/verdict(on:at:)``, so that it explains what happens.
public struct Explanation: Hashable, Sendable {
  /// A constraint of the app against the present condition.
  public struct Term: Hashable, Sendable {
    /// The constraint.
    public var constraint: Constraint
    /// Whether the condition meets it now, or is unknown and counts as met.
    public var isMet: Bool
    /// Whether the condition is unknown.
    public var isUnknown: Bool
    /// When the staleness ladder relaxes it, boot clock; nil when it never does.
    public var relaxedAt: Instant?
    /// Whether the ladder has relaxed it.
    public var isRelaxed: Bool
    /// The last answer of the command that is asked; nil for a constraint that no command answers.
    public var question: Question?
  }

  /// A condition of the app's own that a command answers.
  public struct Question: Hashable, Sendable {
    /// The last answer; nil before the first.
    public var answer: FactState?
    /// When that answer came, boot clock; nil before the first.
    public var answeredAt: Instant?
    /// The earliest next question, boot clock; nil if it is asked as soon as the app is due.
    public var nextAt: Instant?
    /// Whether it is being asked.
    public var isAsked: Bool

    init?(_ constraint: Constraint, of app: App) {
      guard constraint.source == .asked else { return nil }
      let question = app.questions[constraint]
      (answer, answeredAt, nextAt) = (question?.answer, question?.answeredAt, question?.nextAt)
      isAsked = question?.asked != nil
    }
  }

  /// A plan made at that instant, and its inputs.
  public struct Planning: Hashable, Sendable {
    /// A plan made now.
    public var plan: Plan
    /// When the plan in force has the next background refresh, boot clock.
    public var planned: Instant
    /// The inputs of the plan.
    public var habits: Habits
    /// The habit that the planned refresh comes before; nil if none can be named.
    public var habit: Habit?
    /// Minutes of age that a refresh of cost 1 must spare: the machine's price.
    public var price: Double
    /// The last instant that the plan may choose, boot clock: the data then reaches `max_stale`.
    public var ceiling: Instant
  }

  /// The verdict.
  public var verdict: Verdict
  /// Why the next refresh starts; nil when none is planned.
  public var trigger: Trigger?
  /// When the next refresh may start if nothing holds it, boot clock; nil when none is planned.
  public var window: Window?
  /// The end of the interval, boot clock, when the next refresh may start; nil for `never`, and before the first refresh.
  public var floor: Instant?
  /// When the age of the data begins to relax constraints, boot clock; nil when the app has no `max_stale`.
  public var staleAt: Instant?
  /// The constraints that the app has, in the order of ``Constraint``.
  public var terms: [Term] = []
  /// How many refreshes in a row have failed and are worth a retry.
  public var failures = 0
  /// Until when the app rests because three refreshes overran their deadline within a day, boot clock.
  public var restsUntil: Instant?
  /// Until when refreshes by time are skipped, at the user's request, boot clock.
  public var skippedUntil: Instant?
  /// Whether all refreshes by time are skipped until then.
  public var skipsAll = false
  /// A refresh that a caller asked for at a later time.
  public var oneShot: OneShot?
  /// The ended transfer sessions that are to be delivered to the app.
  public var drained: [DrainedSession] = []
  /// The pushes that wait for the app, in order.
  public var pushes: [WaitingPush] = []
  /// Until when a server promises that there is nothing newer, boot clock; nil without a promise in force.
  public var freshUntil: Instant?
  /// When the daemon reports stale data, unless a refresh comes first, boot clock.
  public var reportsStale: Instant?
  /// When the daemon reports that the refresh waits too long, unless it starts first, boot clock.
  public var reportsHeld: Instant?
  /// The app's presence on desktops.
  public var presence = Presence.unknown
  /// Whether a signal or a lease tells where the user looks, so that desktops do not count.
  public var isPhaseTold = false
  /// When the presence counts as an opening, boot clock; nil while the app is not in front, or once it has counted.
  public var countsAsOpenedAt: Instant?
  /// The changes in its watched folders that no refresh has followed.
  public var change: LocalChange?
  /// The holds that keep the due app, and since when.
  public var waiting: Waiting?
  /// The plan; nil if the app is not planned, or was never refreshed.
  public var planning: Planning?

  init(verdict: Verdict) { self.verdict = verdict }
}
