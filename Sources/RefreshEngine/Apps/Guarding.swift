/// A long-lived service that runs only while nothing holds its app.
public struct GuardedUnit: Hashable, Sendable, CustomStringConvertible {
  /// How the service is kept from running: the values of `guard`.
  public enum Means: String, Hashable, Sendable, CaseIterable {
    /// It is stopped, and started again later.
    case stop
    /// Its processes are frozen, and thawed later: they keep their memory and their connections.
    case freeze
  }

  /// The name of the service, such as `syncthing.service`.
  public var name: String
  /// How it is kept from running.
  public var means: Means
  /// The user whose service manager has the unit; nil for the machine's.
  public var user: UInt32?

  /// Names a service.
  public init(_ name: String, means: Means = .stop, user: UInt32? = nil) {
    (self.name, self.means, self.user) = (name, means, user)
  }

  /// The unit among all of the machine and its users: `syncthing.service of user 1000`.
  public var description: String { user.map { "\(name) of user \($0)" } ?? name }

  /// The unit as text for ``AppState/keptUnit``: `frozen syncthing.service`, or just the name for a stopped unit.
  public var kept: String { means == .freeze ? "frozen \(description)" : description }

  /// Reads a text of ``AppState/keptUnit``.
  init(kept text: String) {
    var words = text.split(separator: " ")
    let isFrozen = words.count > 1 && words[0] == "frozen"
    if isFrozen { words.removeFirst() }
    self.init(
      words.first.map(String.init) ?? text, means: isFrozen ? .freeze : .stop,
      user: words.count == 4 ? UInt32(words[3]) : nil)
  }

  /// The unit that a text of ``AppState/keptUnit`` names, with its means; nil if it is another unit.
  func matching(kept text: String) -> GuardedUnit? {
    let left = GuardedUnit(kept: text)
    return left.name == name && left.user == user ? left : nil
  }
}

/// The end of the keeper: the process that keeps a unit from running, and returns it when asked to.
public enum KeeperEnd: Hashable, Sendable {
  /// It has returned the unit; `trouble` is the problem in one sentence, nil for none.
  case returned(trouble: String?)
  /// It could not work, or was killed; the reason in one sentence.
  case failed(String)
}

/// A guard at one instant, for a person.
public struct GuardState: Hashable, Sendable {
  /// The unit.
  public var unit: GuardedUnit
  /// Whether the daemon has stopped or frozen the unit and is to return it.
  public var isKept: Bool
  /// The state of the unit as its keeper reported it last, such as `stopped`; nil while nothing keeps it.
  public var report: String?
  /// Why the unit cannot be kept or returned, in one sentence; nil when all is well.
  public var trouble: String?
}

/// The present work of a guard; apart from the kept unit it ends with the daemon.
///
/// The keeper is a process of the app's owner. It keeps the unit from running for as long as it lives. Its stages, and the
/// cause of each change:
///
///     none      -> keeping    something holds the app
///     none      -> returning  nothing holds the app, and an earlier keeper has left the unit stopped
///     keeping   -> returning  nothing holds the app any more, or the file names another unit, or none
///     keeping   -> none       the keeper has ended by itself; a new one is started after a wait
///     returning -> none       the keeper has returned the unit, or has failed to
struct Guarding: Hashable, Sendable {
  /// A running keeper.
  struct Keeper: Hashable, Sendable {
    let id: RunID
    let unit: GuardedUnit
    /// Whether it was asked to return the unit.
    var isReturning: Bool
    /// Whether a condition has held the app since the keeper started; a pause needs no damping.
    var isForCondition = false
  }

  /// How soon after a return a lost condition counts as flapping.
  private static let calmSpan = Duration.minutes(10)

  /// The unit that a keeper has stopped or frozen and is to return, until the boot ends; nil for none.
  private(set) var keptUnit: String?
  /// The running keeper; nil for none.
  private(set) var keeper: Keeper?
  /// The earliest start of the next keeper, boot clock; nil for at once.
  private var retryAt: Instant?
  private var failures: Int32 = 0
  /// How often in a row the conditions were lost soon after a return.
  private var losses: Int32 = 0
  /// When a unit was returned last, boot clock.
  private var returnedAt: Instant?
  /// Since when nothing has held the app while its unit is kept, boot clock; nil while something does.
  private var freeSince: Instant?
  /// The last report of the running keeper.
  private(set) var report: String?
  /// Why the last keeper could not keep or return its unit.
  private(set) var trouble: String?

  /// Makes it from the saved part.
  init(restoring state: AppState) { keptUnit = state.keptUnit }

  /// Reads the saved part.
  mutating func restore(_ state: AppState) { keptUnit = state.keptUnit }

  /// Writes the saved part.
  func save(in state: inout AppState) { state.keptUnit = keptUnit }

  /// Whether a unit is kept or a keeper runs, or ran before.
  var isInUse: Bool {
    keeper != nil || keptUnit != nil || trouble != nil || failures > 0 || returnedAt != nil || losses > 0
  }

  /// When a keeper may start, boot clock; nil for at once.
  var startsKeeperAt: Instant? { keeper == nil ? retryAt : nil }

  /// Whether a keeper may start now.
  func mayStartKeeper(at now: Instant) -> Bool { keeper == nil && retryAt.map { $0 <= now } ?? true }

  /// Forgets everything but the kept unit, because the app no longer guards a unit.
  mutating func clear() {
    var state = AppState()
    save(in: &state)
    self = Guarding(restoring: state)
  }

  /// Sets the kept unit; false if it is the same.
  mutating func setKept(_ unit: String?) -> Bool {
    guard keptUnit != unit else { return false }
    keptUnit = unit
    return true
  }

  /// Begins to keep a unit.
  mutating func keep(_ id: RunID, _ unit: GuardedUnit) {
    keeper = Keeper(id: id, unit: unit, isReturning: false)
    (retryAt, freeSince) = (nil, nil)
  }

  /// Begins to return a unit, by the running keeper or by a new one.
  mutating func giveBack(_ id: RunID, _ unit: GuardedUnit) {
    if keeper == nil { keeper = Keeper(id: id, unit: unit, isReturning: true) }
    keeper?.isReturning = true
    retryAt = nil
  }

  /// Ends the time without a hold; only the first hold during a keeper counts as a loss.
  mutating func conditionsLost(at now: Instant) {
    freeSince = nil
    guard let keeper, !keeper.isForCondition else { return }
    self.keeper?.isForCondition = true
    let isSoon = returnedAt.map { now < $0 + Self.calmSpan } ?? false
    losses = isSoon ? BackOff.guards.counting(losses) : 1
  }

  /// Starts the time that must pass without a hold before the unit runs again.
  mutating func conditionsMet(at now: Instant) { freeSince = freeSince ?? now }

  /// Until when the conditions must hold before the unit is returned, boot clock; nil if they need not.
  func steadyAt(from now: Instant) -> Instant? {
    guard let keeper, keeper.isForCondition, !keeper.isReturning else { return nil }
    return (freeSince ?? now) + BackOff.guards.wait(after: losses)
  }

  /// Applies the end of the keeper.
  mutating func end(_ end: KeeperEnd, at now: Instant) {
    (keeper, report, freeSince) = (nil, nil, nil)
    switch end {
    case .returned(let trouble):
      self.trouble = trouble
      (failures, returnedAt) = (0, now)
    case .failed(let reason):
      trouble = reason
      failures = BackOff.guards.counting(failures)
      retryAt = now + BackOff.guards.wait(after: failures)
    }
  }

  /// Applies the report of a keeper that does its work.
  mutating func applyReport(_ text: String) {
    report = text
    (failures, trouble) = (0, nil)
  }
}

// Guards: whether a unit may run now, and what the daemon does about it.

extension Judge {
  /// How long a command's yes lets a guard's unit run; the command is asked again after half of that.
  static let answerLife = Duration.minutes(10)

  /// Judges a guard: its unit may run, or is held.
  func guardVerdict(on app: App, at now: Instant) -> Verdict {
    let lasting = lastingHolds(on: app)
    guard lasting.isEmpty else { return .held(lasting) }
    var holds: [Hold] = []
    if let pause, !pause.isOver(at: now) { holds.append(.paused(pause)) }
    if let quiet = app.policy?.quiet, let end = end(of: quiet, for: app.id, at: now) {
      holds.append(.quiet(until: end))
    }
    if limits.powerSaver == .stop, conditions.powerSaver.value == true { holds.append(.powerSaver) }
    holds = holdsOrFirstQuestion(holds + unmet(app, at: now), of: app)
    if holds.isEmpty, let until = app.guarding.steadyAt(from: now), until > now { holds = [.unsteady(until: until)] }
    return holds.isEmpty ? .clear : .held(holds)
  }

  /// Whether the conditions that hold an app are not known yet, so that its unit stays as it is.
  func isUndecided(_ holds: [Hold], _ app: App) -> Bool {
    guard let constraints = app.policy?.constraints else { return false }
    return holds.allSatisfy { hold in
      if case .constraint(let constraint, _) = hold {
        isUnanswered(constraint, of: constraints, by: app)
      } else {
        false
      }
    }
  }

  /// When to judge a guard again if nothing else happens, boot clock.
  func guardWake(_ app: App, _ verdict: Verdict, at now: Instant) -> Instant? {
    guard app.policy?.guarded != nil else { return nil }
    // A retry whose time has passed waits for something else, and each event about the app judges it again.
    let retryAt = app.guarding.startsKeeperAt.flatMap { $0 > now ? $0 : nil }
    var wakes = [retryAt]
    if let quiet = app.policy?.quiet { wakes.append(beginning(of: quiet, after: now)) }
    if verdict == .clear { wakes += askedConstraints(of: app).map { app.questions[$0]?.asksAgainAt } }
    return wakes.compactMap(\.self).min()
  }

  /// The condition to ask about again for a guard whose unit runs.
  func constraintToAskAgain(of app: App, _ verdict: Verdict, at now: Instant) -> Constraint? {
    guard app.policy?.guarded != nil, verdict == .clear else { return nil }
    return askedConstraints(of: app).first { constraint in
      app.questions[constraint]?.asksAgainAt.map { $0 <= now } ?? false
    }
  }

  private func askedConstraints(of app: App) -> [Constraint] {
    Constraint.allCases.filter { $0.origin == .asked && app.policy?.constraints.asks(for: $0) == true }
  }
}

extension App {
  /// Whether a condition may matter to the app although nothing holds it.
  var followsConditions: Bool { policy?.guarded != nil || mailbox.followsConditions }

  /// Whether it guards this kept unit, and has kept no unit itself.
  func mayInherit(_ kept: String) -> Bool {
    policy?.unusable == nil && policy?.guarded?.matching(kept: kept) != nil && guarding.keptUnit == nil
      && guarding.keeper == nil
  }
}

extension Hold {
  /// Whether a condition of the machine lifts it, and may come and go.
  var isOfConditions: Bool {
    switch self {
    case .constraint, .powerSaver: true
    default: false
    }
  }
}
