/// The start of a refresh, saved before its first process, so that a crash cannot lose it.
public struct Started: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var at: Instant
  /// The session of transfers whose end it reports; nil unless the trigger is `transfer`.
  public var session: String?
  /// The push that it delivers; nil if it delivers none.
  public var push: PushID?
  /// Whether a person asked for it against the app's constraints.
  public var isForced = false

  /// Makes a start.
  public init(id: RefreshID, trigger: Trigger, at: Instant, session: String? = nil, push: PushID? = nil) {
    self.id = id
    self.trigger = trigger
    self.at = at
    self.session = session
    self.push = push
  }
}

extension Engine {
  /// Starts a refresh: takes a slot and the request, and adds the effect `start` or `perform`.
  mutating func decideStart(_ index: AppIndex, _ trigger: Trigger, _ turn: inout Turn) {
    guard let policy = apps[index].policy else { return }
    let id = apps.id(at: index)
    let drained = trigger == .transfer ? apps[index].nextDrained : nil
    let next = trigger == .push ? nextPush(of: apps[index], at: turn.now) : nil
    let push = next.flatMap { $0.earliest <= turn.now ? $0.push : nil }
    var started = Started(id: makeRefreshID(), trigger: trigger, at: turn.now, session: drained?.name, push: push?.id)
    started.isForced = trigger == .manual && apps[index].state.isForced
    if let drained {
      apps[index].drained.removeAll { $0 == drained }
      countWake(started, of: index, &turn)
    }
    if let push { countAttempt(push, of: index, &turn) }
    let isAttached = apps[index].isAttached
    if !isAttached { apps[index].state.wasAttached = false }
    let refreshing = Refreshing(started, policy: policy, isAttached: isAttached, beginsLater: awaitsBegin)
    occupySlot(refreshing, of: id)
    apps[index].state.lastStart = turn.now
    // A refresh that only reports a session or delivers a push does not serve a caller that waits for a refresh.
    let asked = apps[index].state.request?.trigger
    if drained == nil && push == nil || asked?.isByTime == true || asked == trigger { apps[index].state.request = nil }
    if apps[index].state.request == nil { apps[index].state.isForced = false }
    if drained == nil && push == nil { apps[index].change = nil }
    apps[index].endPassedSkip(at: turn.now)
    apps[index].isRetryForUser = false
    if let oneShot = apps[index].state.oneShot, oneShot.earliest <= turn.now { apps[index].state.oneShot = nil }
    apps[index].refreshing = refreshing
    turn.decision.changes.apps.insert(id)
    turn.decision.effects.append(
      isAttached
        ? .perform(started.id, id, trigger, deadline: refreshing.deadline.at)
        : .start(started.id, id, trigger, deadline: refreshing.deadline.at))
  }
}
