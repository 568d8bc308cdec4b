/// What is learnt of an app, or pinned in its file (FEATURES C1 to C3).
public struct Habits: Hashable, Sendable {
  /// When the app is expected to be opened.
  public var usage: Usage
  /// How often a day the source has something new.
  public var newDataPerDay: Double
  /// What a refresh costs, relative to the typical one of the machine.
  public var cost: Double
}

/// Every term of the judgement about one app at one instant (FEATURES H1).
///
/// Its verdict is that of ``Engine/verdict(on:at:)``, so what is explained is what happens.
public struct Explanation: Hashable, Sendable {
  /// One constraint of the app against the condition as it is.
  public struct Term: Hashable, Sendable {
    /// Which constraint.
    public var constraint: Constraint
    /// Whether the condition meets it now, or nobody knows and that counts as met.
    public var isMet: Bool
    /// Whether nobody knows the condition.
    public var isUnknown: Bool
    /// When the staleness ladder relaxes it, boot clock; nil when it never does.
    public var relaxedAt: Instant?
    /// Whether the ladder has relaxed it.
    public var isRelaxed: Bool
  }

  /// What a plan made at that instant says, and what it rests on (FEATURES C).
  public struct Planning: Hashable, Sendable {
    /// What a plan made now says.
    public var plan: Plan
    /// When the plan in force has the next background refresh, boot clock.
    public var planned: Instant
    /// What the plan rests on.
    public var habits: Habits
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
  /// A refresh that somebody asked for at a later time.
  public var oneShot: OneShot?
  /// The sessions of transfers of whose end the app is to be told.
  public var drained: [DrainedSession] = []
  /// The pushes of which the app is to be told, in order.
  public var pushes: [WaitingPush] = []
  /// Until when a server said that there is nothing newer, boot clock; nil when that has passed, or none did.
  public var freshUntil: Instant?
  /// When it is told that the data is stale, unless it is fresh before, boot clock (FEATURES D8).
  public var tellsStale: Instant?
  /// Since when the app is due and held, and by what.
  public var waiting: Waiting?
  /// The plan; nil for an app that is not planned, or was never refreshed.
  public var planning: Planning?

  init(verdict: Verdict) { self.verdict = verdict }
}
