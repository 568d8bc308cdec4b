import RefreshEngine

extension Bystander.App {
  var phase: Phase {
    if isLoggedOut { return .loggedOut }
    let isShown = presence == .front && !isPhaseReported
    return isForeground || leases.values.contains(.foreground) || isShown ? .foreground : .background
  }

  /// Whether neither time nor a person may start it.
  var isOff: Bool { isLoggedOut || isDisabled }

  /// The least time between two starts by time; nil for none.
  func spacing(_ limits: Limits) -> Duration? {
    guard let policy else { return nil }
    switch phase {
    case .loggedOut: return nil
    case .foreground:
      let floor = limits.foregroundFloor
      return switch overrides.foregroundInterval ?? policy.foregroundInterval {
      case .never: nil
      case .minimum: floor
      case .every(let time): time > floor ? time : floor
      }
    case .background:
      let floor = limits.backgroundFloor
      return switch overrides.backgroundInterval ?? policy.backgroundInterval {
      case .never: nil
      case .auto(let own): own.map { $0 > floor ? $0 : floor } ?? floor
      case .every(let time): time > floor ? time : floor
      }
    }
  }

  /// When the interval of the phase ends; nil before the first start, and for `never`.
  func intervalEnd(_ limits: Limits) -> Instant? {
    guard let spacing = spacing(limits), let lastStart else { return nil }
    guard phase == .background, fixedInterval(limits) != nil else { return lastStart + spacing }
    let start = grid ?? lastStart
    let due = start + spacing
    // The moment after a late refresh is left out if it would come before half of the interval has passed.
    guard let freshAt, freshAt > start, freshAt + spacing / 2 > due else { return due }
    return due + spacing
  }

  /// The fixed interval of the background; nil for none.
  func fixedInterval(_ limits: Limits) -> Duration? {
    guard let policy, case .every(let time) = overrides.backgroundInterval ?? policy.backgroundInterval else {
      return nil
    }
    return max(time, limits.backgroundFloor)
  }

  /// Counts a start, which serves all moments of the grid that have passed.
  mutating func passGrid(at now: Instant, _ limits: Limits) {
    guard let interval = fixedInterval(limits) else { return grid = nil }
    guard var start = grid else { return grid = now }
    while start + interval <= now { start = start + interval }
    grid = start
  }

  /// The age of the data at which a refresh waits no longer: three intervals unless the file says.
  var maxStale: Duration {
    if let given = policy?.maxStale { return given }
    return switch overrides.backgroundInterval ?? policy?.backgroundInterval ?? .never {
    case .every(let time): time * 3
    case .auto(let floor): max(.hours(24), floor.map { $0 * 3 } ?? .zero)
    case .never: .hours(72)
    }
  }

  /// Whether the data is older than the limit of its file.
  func isPastObjective(at now: Instant) -> Bool {
    guard let begin = freshAt ?? seenAt, let most = policy?.staleAfter else { return false }
    return begin + most <= now
  }

  /// The time at which time asks for a refresh: after the interval, a skip, and a day's rest for three overruns in a day.
  func dueByTime(_ limits: Limits, at now: Instant) -> Instant? {
    guard spacing(limits) != nil else { return nil }
    var due = intervalEnd(limits) ?? now
    if let skippedUntil { due = max(due, skippedUntil) }
    if strikes.count == 3, strikes[0] + .hours(24) >= strikes[2], let lastStart, phase == .background {
      let rested = strikes[2] + .hours(24)
      if rested > now { due = max(due, min(rested, lastStart + maxStale)) }
    }
    return due
  }

  /// Whether the data is so old that a rung of the ladder is reached, in thirds of `max_stale` above it.
  ///
  /// Without `max_stale` nothing is relaxed. Long work stays out of the user's way however old its data is.
  fileprivate func isStale(_ thirds: Int, at now: Instant) -> Bool {
    guard let maxStale = policy?.maxStale, policy?.isProcessing != true, let begin = freshAt ?? seenAt else {
      return false
    }
    let third = maxStale / 3
    return begin + maxStale + third * thirds <= now
  }
}

/// The holds on an app, as the files and the events give them.
extension Bystander {
  /// The hold, in words; nil when there is none.
  ///
  /// With `byTime`, the refresh is deferrable. With `isOfTransfers`, unmet constraints hold only long work (`processing`).
  func hold(
    on id: AppID, byTime: Bool, isManual: Bool = false, isOfTransfers: Bool = false, at now: Instant
  ) -> String? {
    guard let app = apps[id], let policy = app.policy else { return "it is not configured" }
    if policy.unusable != nil { return "its file has a mistake" }
    if app.isLoggedOut { return "it is logged out" }
    if app.isDisabled { return "it is disabled" }
    if isStopping { return "the daemon stops" }
    if isSuspending { return "the machine goes to sleep" }
    if policy.tasks.isEmpty && !app.isAttached { return "it has no task and no process is attached" }
    if app.wasAttached && !app.isAttached, let startedAt, now < startedAt + .seconds(2) {
      return "its process may attach again"
    }
    if pause != nil, !isManual { return "all apps are paused" }
    if byTime {
      if let settlingUntil, now < settlingUntil { return "the machine settles" }
      if let quiet = policy.quiet, isQuiet(quiet, at: now) { return "its hours are quiet" }
      if limits.powerSaver == .stop, conditions.powerSaver.value == true, app.phase == .background {
        return "power is saved"
      }
    }
    return isOfTransfers && !policy.isProcessing ? nil : unmet(app, at: now)
  }

  /// Whether anything may hold the app, for any refresh: quiet hours end up to five minutes later, app by app.
  func mayHold(_ id: AppID, at now: Instant) -> Bool {
    if let quiet = apps[id]?.policy?.quiet, isQuiet(quiet, at: now - .minutes(5)) { return true }
    return hold(on: id, byTime: true, at: now) != nil
  }

  /// Whether the last answer of one of the app's condition commands was no.
  func saidNo(to id: AppID) -> Bool {
    guard let app = apps[id], let wanted = app.policy?.constraints else { return false }
    return [Constraint.reachable, .when].contains { wanted.name(of: $0) != nil && app.answers[$0]?.isMet == false }
  }

  /// Whether all places are taken, those of all apps or those of the app's owner.
  func isFull(for id: AppID, at now: Instant) -> Bool {
    isFull(for: apps[id]?.policy?.owner ?? 0, beside: apps.values.compactMap(\.run), at: now)
  }

  /// Whether a user may have no refresh beside these.
  ///
  /// A refresh counts against other users for a minute, and a user without any may have one place more.
  func isFull(for owner: UInt32, beside runs: [Run], at now: Instant) -> Bool {
    let holders = runs.filter(\.holdsSlot)
    let own = holders.count { $0.owner == owner }
    if let most = limits.maxConcurrentPerUser, own >= most { return true }
    guard let most = limits.maxConcurrent else { return false }
    let others = holders.count { $0.owner != owner && (!$0.hasBegun || now < $0.agesAt) }
    return own + others >= most + (own == 0 ? 1 : 0) || holders.count >= 4 * most
  }

  /// Lets each yes count on for as long as nothing but a place has been missing since it came.
  mutating func keepAnswers(at now: Instant) {
    for (id, app) in apps where app.run == nil && !app.answers.isEmpty {
      let waitsForPlace = isFull(for: id, at: now) && hold(on: id, byTime: false, at: now) == nil
      apps[id]?.keepsAnswers = waitsForPlace
    }
  }

  /// Whether the clock on the wall shows a time in the quiet hours.
  func isQuiet(_ quiet: QuietHours, at now: Instant) -> Bool {
    let wall = (Duration.microseconds(now.microseconds) + wallOffset).inMicroseconds
    let sinceMidnight = sinceMidnight(wall)
    let (from, to) = (Int64(quiet.from) * 60_000_000, Int64(quiet.to) * 60_000_000)
    return from <= to
      ? from <= sinceMidnight && sinceMidnight < to : sinceMidnight >= from || sinceMidnight < to
  }

  /// When the clock on the wall shows the beginning of quiet hours, or is set by daylight saving before that.
  func beginning(of quiet: QuietHours, after now: Instant) -> Instant {
    let wall = (Duration.microseconds(now.microseconds) + wallOffset).inMicroseconds
    let change = zone.changes.first { $0.at > wall }
    let day: Int64 = 86_400_000_000
    let until = ((Int64(quiet.from) * 60_000_000 - sinceMidnight(wall) - 1) % day + day) % day + 1
    return now + .microseconds(min(until, change.map { $0.at - wall } ?? until))
  }

  private func sinceMidnight(_ wall: Int64) -> Int64 {
    let east = zone.changes.last { $0.at <= wall }?.offset ?? zone.offset
    let day: Int64 = 86_400_000_000
    return ((wall + Int64(east) * 1_000_000) % day + day) % day
  }

  /// The first constraint that is not met and not relaxed, in words.
  private func unmet(_ app: App, at now: Instant) -> String? {
    guard let policy = app.policy else { return nil }
    let wanted = policy.constraints
    if unmetToGoOn(app, at: now) { return "network, power or a fact that it names is not as it asks" }
    for (constraint, name) in wanted.named where conditions.facts[NamedFact(constraint, name)] == nil {
      return "nobody knows \(name) yet"
    }
    for constraint in [Constraint.reachable, .when] where wanted.name(of: constraint) != nil {
      guard let answer = app.answers[constraint], answer.isMet, app.keepsAnswers || now < answer.at + .minutes(1) else {
        return "its command has not said yes within the last minute"
      }
    }
    if wanted.asksForNetwork, conditions.network.isUnanswered { return "nobody knows the network yet" }
    if wanted.power != .any, !app.isStale(2, at: now), conditions.power.isUnanswered {
      return "nobody knows the power yet"
    }
    if wanted.idle, !app.isStale(0, at: now), conditions.idle.isUnanswered { return "nobody knows the user yet" }
    if wanted.calm, !app.isStale(1, at: now), conditions.pressure.isUnanswered {
      return "nobody knows the pressure yet"
    }
    if wanted.idle, !app.isStale(0, at: now), !knows(conditions.idle, that: { $0 }) { return "the user is there" }
    if wanted.calm, !app.isStale(1, at: now), !knows(conditions.pressure, that: { !$0 }) { return "it is busy" }
    return nil
  }

  /// Whether a refresh of the app may not even go on.
  func unmetToGoOn(_ app: App, at now: Instant) -> Bool {
    guard let policy = app.policy else { return false }
    let wanted = policy.constraints
    let needsPower = wanted.power != .any && !app.isStale(2, at: now)
    let hasPower = knows(conditions.power) { power in
      if !power.onBattery { return true }
      return wanted.power == .notLow && (power.percent ?? 100) >= 20
    }
    if needsPower && !hasPower { return true }
    if policy.isProcessing, wanted.idle, !knows(conditions.idle, that: { $0 }) { return true }
    for (constraint, name) in wanted.named {
      if let fact = conditions.facts[NamedFact(constraint, name)], fact.value?.isMet != true { return true }
    }
    guard wanted.asksForNetwork else { return false }
    let takesAnything = policy.meteredWhenStale && app.isStale(3, at: now)
    return !knows(conditions.network) { network in
      if wanted.network != .none, network.reach != .full { return false }
      if network.medium == .wifi, let name = network.ssid {
        if wanted.deniedSSIDs.contains(name) { return false }
        if !wanted.ssids.isEmpty, !wanted.ssids.contains(name) { return false }
      }
      if takesAnything { return true }
      if wanted.network == .unmetered { return ![.yes, .guessYes].contains(network.metered) }
      return wanted.network != .wifi || network.medium == .wifi
    }
  }

  private func knows<Value>(_ reading: Reading<Value>, that test: (Value) -> Bool) -> Bool {
    // Whether it may start before the first answer is asked apart; what runs goes on.
    if reading.isUnanswered { return true }
    guard let value = reading.value else { return limits.unknownIsMet }
    return test(value)
  }
}

extension Constraints {
  fileprivate var asksForNetwork: Bool { network != .none || !ssids.isEmpty || !deniedSSIDs.isEmpty }

  /// The facts that the file names for the machine to have.
  fileprivate var named: [(Constraint, String)] {
    [(Constraint.mounted, mounted), (.present, present)].compactMap { constraint, name in name.map { (constraint, $0) }
    }
  }
}
