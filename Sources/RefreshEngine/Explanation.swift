/// Every term of the judgement about one app at one instant.
///
/// Its verdict is that of ``Engine/verdict(on:at:)``, so what is explained is what happens.
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
    /// When it came, boot clock; nil before the first.
    public var answeredAt: Instant?
    /// Not before this instant it is asked again, boot clock; nil when it is asked as soon as the app is due.
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
    /// The last instant that the plan may choose, boot clock: the data is as old as `max_stale` lets it be.
    public var ceiling: Instant
  }

  /// The verdict.
  public var verdict: Verdict
  /// Why the next refresh starts; nil when none is planned.
  public var trigger: Trigger?
  /// When the next refresh may start if nothing holds it, boot clock; nil when none is planned.
  public var window: Window?
  /// When the interval lets the next one start, boot clock; nil for `never`, and before the first.
  public var floor: Instant?
  /// When the data is so old that constraints are relaxed, boot clock; nil when the app has no `max_stale`.
  public var staleAt: Instant?
  /// The constraints that the app has, in the order of ``Constraint``.
  public var terms: [Term] = []
  /// How many refreshes in a row have failed in a way that is worth a retry.
  public var failures = 0
  /// Until when the app rests because three refreshes overran their deadline within a day, boot clock.
  public var restsUntil: Instant?
  /// Nothing starts by time before this instant, because the user skipped one, boot clock.
  public var skippedUntil: Instant?
  /// Whether all refreshes by time are skipped until then.
  public var skipsAll = false
  /// A refresh that a caller asked for at a later time.
  public var oneShot: OneShot?
  /// The ended transfer sessions that are to be delivered to the app.
  public var drained: [DrainedSession] = []
  /// The pushes that wait for the app, in order.
  public var pushes: [WaitingPush] = []
  /// Until when a server said that there is nothing newer, boot clock; nil when that has passed, or none did.
  public var freshUntil: Instant?
  /// When the daemon reports stale data, unless a refresh comes first, boot clock.
  public var reportsStale: Instant?
  /// When the daemon reports that the refresh waits too long, unless it starts first, boot clock.
  public var reportsHeld: Instant?
  /// The app as desktops show it.
  public var presence = Presence.unknown
  /// Whether a signal or a lease says where the user is looking, so that desktops do not count.
  public var isPhaseTold = false
  /// When what a desktop shows counts as an opening, boot clock; nil while the app is not in front, or counts already.
  public var countsAsOpenedAt: Instant?
  /// The changes in its watched folders that no refresh has come after.
  public var change: LocalChange?
  /// The holds that keep the due app, and since when.
  public var waiting: Waiting?
  /// The plan; nil for an app that is not planned, or was never refreshed.
  public var planning: Planning?

  init(verdict: Verdict) { self.verdict = verdict }
}
