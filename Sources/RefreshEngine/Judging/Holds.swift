/// A reason that keeps an app from being refreshed.
public enum Hold: Hashable, Sendable {
  /// No file in force names the app.
  case notConfigured
  /// The app's file has a mistake, in this sentence; a corrected file lifts the hold.
  case misconfigured(String)
  /// The app is logged out; `login` lifts it.
  case loggedOut
  /// The user has disabled the app; `enable` lifts it.
  case disabled
  /// The user has paused all apps; `resume` lifts it, or the end of the pause.
  case paused(Pause)
  /// The interval of the phase is `never`; another phase or interval, or a request, lifts it.
  case never
  /// The app's quiet hours, until this instant, boot clock.
  case quiet(until: Instant)
  /// A constraint of the app is not met; the condition lifts it, or the relaxation at this instant, boot clock.
  case constraint(Constraint, relaxedAt: Instant?)
  /// A power-saver profile is on, and the configuration stops background work meanwhile.
  case powerSaver
  /// The machine has just started or woken up, until this instant, boot clock.
  case settling(until: Instant)
  /// Nothing else holds a guard's unit; that must last until this instant, boot clock.
  case unsteady(until: Instant)
  /// Ended sessions of transfers have woken the app as often as they may, until this instant, boot clock.
  case wakeLimit(until: Instant)
  /// The machine is going to sleep; the resume lifts it.
  case suspending
  /// The app has neither a command nor an attached process, or its command waits until this instant, boot clock, for the
  /// process that was attached before the daemon's start; a process that attaches lifts it.
  case noPerformer(until: Instant?)
  /// As many refreshes run as the limits allow.
  case concurrency
  /// The daemon is stopping; its next start lifts it.
  case stopping

  /// Its name, as it is stored and shown.
  public var name: Name {
    switch self {
    case .notConfigured: .notConfigured
    case .misconfigured: .misconfigured
    case .loggedOut: .loggedOut
    case .disabled: .disabled
    case .paused: .paused
    case .never: .never
    case .quiet: .quiet
    case .constraint(.network, _): .network
    case .constraint(.power, _): .power
    case .constraint(.idle, _): .idle
    case .constraint(.calm, _): .calm
    case .constraint(.mounted, _): .mounted
    case .constraint(.present, _): .present
    case .constraint(.reachable, _): .reachable
    case .constraint(.when, _): .when
    case .powerSaver: .powerSaver
    case .settling: .settling
    case .unsteady: .unsteady
    case .wakeLimit: .wakeLimit
    case .suspending: .suspending
    case .noPerformer: .noPerformer
    case .concurrency: .concurrency
    case .stopping: .stopping
    }
  }

  /// The names of holds.
  public enum Name: String, Hashable, Sendable, CaseIterable {
    case notConfigured = "not-configured"
    case misconfigured
    case loggedOut = "logged-out"
    case disabled
    case paused
    case never
    case quiet
    case network
    case power
    case idle
    case calm
    case mounted
    case present
    case reachable
    case when
    case powerSaver = "power-saver"
    case settling
    case unsteady
    case wakeLimit = "wake-limit"
    case suspending
    case noPerformer = "app"
    case concurrency
    case stopping
  }
}

// The rules of holds: every reason that keeps an app from a refresh.

extension Judge {
  /// The holds that keep an app from any refresh, even from one that a person requests, and even while none is due.
  func lastingHolds(on app: App) -> [Hold] {
    var holds: [Hold] = []
    if app.sharedPolicy == nil { holds.append(.notConfigured) }
    if let reason = app.sharedPolicy?.value.unusable { holds.append(.misconfigured(reason)) }
    if app.visits.isLoggedOut { holds.append(.loggedOut) }
    if app.switches.isDisabled { holds.append(.disabled) }
    if life.isStopping { holds.append(.stopping) }
    if life.isSuspending { holds.append(.suspending) }
    return holds
  }

  /// The holds that keep a due refresh from starting, apart from slots.
  ///
  /// A manual refresh passes a pause. A refresh that a caller or the user waits for passes quiet hours, settling and the
  /// power saver.
  func holds(on app: App, for trigger: Trigger, at now: Instant) -> [Hold] {
    var holds: [Hold] = []
    if let pause, !pause.isOver(at: now), trigger != .manual { holds.append(.paused(pause)) }
    if trigger.isDeferrable {
      if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
      if let quiet = app.policy?.quiet, let end = end(of: quiet, for: app.id, at: now) {
        holds.append(.quiet(until: end))
      }
      let saves = limits.powerSaver == .stop && conditions.powerSaver.value == true
      if saves && app.phase == .background { holds.append(.powerSaver) }
    }
    if let hold = holdByPerformer(app, at: now) { holds.append(hold) }
    // Transferred files are already on the disk: the report needs no condition.
    return app.ignoresConditions(for: trigger) ? holds : holdsOrFirstQuestion(holds + unmet(app, at: now), of: app)
  }

  /// How long the command of an app waits after the daemon's start for a process that was attached before.
  private static let reattaching = Duration.seconds(2)

  private func holdByPerformer(_ app: App, at now: Instant) -> Hold? {
    guard !app.isAttached else { return nil }
    if app.policy?.tasks.isEmpty == true { return .noPerformer(until: nil) }
    guard app.wasAttached, let until = life.configuredAt.map({ $0 + Self.reattaching }), until > now else {
      return nil
    }
    return .noPerformer(until: until)
  }

  /// When time alone lifts the first hold, or makes a refresh due that these holds do not stop, boot clock; nil for never.
  func lifts(of holds: [Hold], on app: App, at now: Instant) -> Instant? {
    var lifted = holds.compactMap(\.liftedAt)
    guard holds.allSatisfy(\.isOfDue) else { return lifted.min() }
    if let oneShot = app.requests.oneShot, oneShot.earliest > now { lifted.append(oneShot.earliest) }
    if let drained = app.mailbox.nextDrained?.earliest, drained > now { lifted.append(drained) }
    if let push = nextPush(of: app, at: now)?.earliest, push > now { lifted.append(push) }
    return lifted.min()
  }

  /// When time alone lifts or changes the first hold, or a question is asked again, boot clock; nil for never.
  func wake(of holds: [Hold], of due: Due?, on app: App, at now: Instant) -> Instant? {
    let lifted = [lifts(of: holds, on: app, at: now), wakeToAsk(app, by: holds)].compactMap(\.self).min()
    guard holds.allSatisfy(\.isOfDue), let quiet = app.policy?.quiet,
      due?.trigger.isDeferrable == true
    else { return lifted }
    let begin = beginning(of: quiet, after: now)
    return lifted.map { min($0, begin) } ?? begin
  }
}

extension Hold {
  /// When time alone lifts the hold, boot clock; nil if it never does.
  public var liftedAt: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .unsteady(let until), .wakeLimit(let until),
      .paused(.until(let until)):
      until
    case .constraint(_, let relaxedAt): relaxedAt
    case .noPerformer(let until): until
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .paused(.untilResumed), .paused(.untilAC), .never,
      .powerSaver, .suspending, .concurrency, .stopping:
      nil
    }
  }

  /// Whether the hold applies only to a due refresh.
  fileprivate var isOfDue: Bool {
    switch self {
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .stopping, .suspending: false
    case .paused, .quiet, .constraint, .powerSaver, .settling, .unsteady, .wakeLimit, .noPerformer, .concurrency: true
    }
  }
}

// Checks constraints against conditions: which are met, and which the age of the data has relaxed.

extension Judge {
  /// A battery is low below this, in percent.
  private static let lowBattery = 20

  /// The constraints of an app that are neither met nor relaxed at an instant, as holds.
  func unmet(_ app: App, at now: Instant) -> [Hold] {
    var holds: [Hold] = []
    for constraint in Constraint.allCases where !isMet(constraint, by: app, at: now) {
      holds.append(.constraint(constraint, relaxedAt: app.relaxedAt(constraint).flatMap { $0 > now ? $0 : nil }))
    }
    return holds
  }

  /// Whether a constraint allows a refresh of an app: the app does not have it, it is met, or it is relaxed.
  func isMet(_ constraint: Constraint, by app: App, at now: Instant) -> Bool {
    guard let constraints = app.policy?.constraints, constraints.asks(for: constraint) else { return true }
    let isMetUnrelaxed = isMetUnrelaxed(constraint, of: constraints, by: app, at: now)
    // The relaxation comes last, because it reads each app's age of the data, and most constraints are met.
    guard !isMetUnrelaxed, let relaxedAt = app.relaxedAt(constraint), relaxedAt <= now else { return isMetUnrelaxed }
    return constraint != .network || isNetworkMet(constraints, isRelaxed: true)
  }

  /// Whether the network meets a constraint alone, without the names of an app's networks.
  func isMet(_ network: NetworkConstraint) -> Bool {
    guard network != .none else { return true }
    var constraints = Constraints()
    constraints.network = network
    return isNetworkMet(constraints)
  }

  /// Whether the power supply meets a constraint.
  func isMet(_ constraint: PowerConstraint) -> Bool {
    switch constraint {
    case .any: true
    case .ac: isMet(conditions.power) { !$0.onBattery }
    case .notLow: isMet(conditions.power) { !$0.onBattery || $0.percent.map { $0 >= Self.lowBattery } ?? true }
    }
  }

  /// Whether the network meets the constraints; relaxed, they allow a metered network, but keep the reach and the names.
  func isNetworkMet(_ constraints: Constraints, isRelaxed: Bool = false) -> Bool {
    isMet(conditions.network) { network in
      if constraints.network != .none && network.reach != .full { return false }
      if network.medium == .wifi, let ssid = network.ssid {
        if constraints.deniedSSIDs.contains(ssid) { return false }
        if !constraints.ssids.isEmpty && !constraints.ssids.contains(ssid) { return false }
      }
      return switch constraints.network {
      case .none, .any: true
      case .unmetered: isRelaxed || !network.metered.isMetered
      case .wifi: isRelaxed || network.medium == .wifi
      }
    }
  }

  /// Whether a condition passes a test: never before the first answer; ``Limits/unknownIsMet`` decides for an unknown one.
  func isMet<Value>(_ reading: Reading<Value>, _ test: (Value) -> Bool) -> Bool {
    guard !reading.isUnanswered else { return false }
    return reading.value.map(test) ?? limits.unknownIsMet
  }
}

// The staleness ladder: data older than `max_stale` relaxes constraints one after the other.

extension App {
  /// When a constraint is relaxed, boot clock; nil if it never is: without `max_stale` in the app's file, none is.
  ///
  /// The rungs lie a third of `max_stale` apart: idleness, calm, power and, if the app's file allows it, a metered network.
  /// Three kinds are never relaxed: the need for a network, an app's own conditions, and the constraints of guards and of
  /// long work, which would disturb the user.
  func relaxedAt(_ constraint: Constraint) -> Instant? {
    guard let rung = constraint.rung, let ageBegan = timetable.ageBegan, let policy, let maxStale = policy.maxStale,
      !policy.isProcessing, policy.guarded == nil
    else {
      return nil
    }
    if constraint == .network, !policy.meteredWhenStale { return nil }
    return ageBegan + maxStale + maxStale.times(rung).part(of: 3)
  }
}
