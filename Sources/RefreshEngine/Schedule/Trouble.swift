/// Why an app needs a person's attention.
public enum Trouble: Hashable, Sendable {
  /// So many refreshes in a row have failed, as many as ``Policy/failuresBeforeNotice`` or more.
  case failing(Int)
  /// It ran out of time too often, and rests until this instant of the boot clock.
  case resting(until: Instant)
  /// No refresh has succeeded, and the first was due at this instant of the boot clock, over an hour ago.
  case neverWorked(since: Instant)
  /// It should have succeeded again by now, whatever keeps it; its last success began at this instant of the boot clock.
  case late(since: Instant)

  /// How many refreshes in a row fail before an app is failing, where its file wants no notice of that.
  static let usualFailures: Int32 = 2
  /// How long the first success may take, and the least age of data at which an app is late.
  static let patience = Duration.hours(1)
  /// The least age of data at which an app is late whose moments a plan chooses.
  static let patienceForPlan = Duration.hours(72)
}

extension Engine {
  /// Why an app needs attention at an instant, boot clock; nil if all is well with it.
  ///
  /// An app that is switched off or logged out needs none, nor does a guard. A mistake in its file is the configuration's.
  public func trouble(of id: AppID, at now: Instant) -> Trouble? {
    guard let index = apps.index(of: id), let policy = apps[index].policy, policy.guarded == nil else { return nil }
    let app = apps[index]
    guard !app.isOff else { return nil }
    if let streak = app.state.streak, streak.count >= policy.failuresBeforeNotice ?? Trouble.usualFailures {
      return .failing(Int(streak.count))
    }
    if let until = app.restsUntil, until > now { return .resting(until: until) }
    let isByTime = app.spacing(in: .background, limits: limits) != nil
    guard let freshAt = app.state.freshAt else {
      let first =
        app.state.lastStart.map { isByTime ? app.state.seenAt ?? $0 : $0 }
        ?? app.state.seenAt.flatMap { app.dueByTime(limits: limits, at: $0) }
      return first.flatMap { $0 + Trouble.patience <= now ? .neverWorked(since: $0) : nil }
    }
    let usual = isByTime ? max(app.maxStale, app.isPlanned ? Trouble.patienceForPlan : .zero) + Trouble.patience : nil
    guard let lateAt = app.turnsStale ?? usual.map({ freshAt + $0 }), lateAt <= now else { return nil }
    return .late(since: freshAt)
  }
}
