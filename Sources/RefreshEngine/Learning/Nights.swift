// Rounds through the apps, in slices: in the night's round the past fades; other rounds follow a change that affects every
// plan.

/// A round through all apps; each wake does a slice of it.
struct Round: Sendable {
  /// The work on each app.
  enum Step: Hashable, Sendable {
    /// Adds it to the means of the night.
    case absorbing
    /// Passes its nights and plans its next refresh; without `everyApp` only if either is due.
    case planning(everyApp: Bool)
  }

  var step: Step
  /// The index of the next app.
  var index: AppIndex = 0
  /// When it began, boot clock.
  var since: Instant

  /// The window of the next slice, which is due at once.
  var window: Window { Window(earliest: since, latest: since) }
}

extension Engine {
  /// The window of the next night, or of the next slice of a round; nil while no app is planned.
  public var roundWake: Window? {
    round?.window ?? nightAt.map { Window(earliest: $0, latest: $0 + Self.nightWindow) }
  }

  /// How late the night may begin, so that it needs no wake of its own.
  static let nightWindow = Duration.minutes(15)
  /// The cost of a slice and of its steps, in units of about 6 µs: a slice takes half a millisecond.
  private static let slice = 80
  private static let work = (look: 1, absorb: 1, night: 60, missedDay: 5, plan: 15)

  /// Applies a step of the wall clock.
  ///
  /// A clock that was ahead by more than a day was wrong: the nights that it passed come again.
  mutating func setClock(_ turn: inout Turn) {
    let today = local(turn.now).day
    if let day = device.day, day > today + 1 {
      device.day = today
      turn.decision.changes.device.insert(.habits)
      beginRound(.planning(everyApp: true), at: turn.now)
    }
    setNight(at: turn.now)
    followClock(at: turn.now)
  }

  /// Plans every app anew if local time has jumped since the last plans: a plan is an instant, chosen for a time of day.
  mutating func followClock(at now: Instant) {
    guard let planClock, abs(planClock - clock(at: now)) >= Self.jump else { return }
    beginRound(.planning(everyApp: true), at: now)
  }

  /// Local time less boot time, in minutes.
  private func clock(at now: Instant) -> Double { local(now).minutes - Double(now.microseconds) / 60e6 }

  /// Minutes by which local time is ahead of UTC.
  private func zoneOffset(at now: Instant) -> Int32 {
    let wall = Double(now.microseconds + wallOffset.inMicroseconds) / 60e6
    return Int32(clamping: Int((local(now).minutes - wall).rounded()))
  }

  /// The least jump of local time that plans follow, in minutes; a smaller jump corrects the clock.
  private static let jump = 1.0

  /// Sets when the next night begins: at local midnight, if any app is planned.
  mutating func setNight(at now: Instant) {
    guard device.day != nil, plansAny else {
      (nightAt, planClock) = (nil, nil)
      return
    }
    let wall = now.microseconds + wallOffset.inMicroseconds
    let today = zone.local(wall).day
    let midnight = zone.next(minuteOfDay: 0, from: wall + 1)
    let change = zone.changes.first { $0.at > wall }?.at ?? midnight
    nightAt = Instant(microseconds: min(midnight, change) - wallOffset.inMicroseconds)
    if planClock == nil {
      planClock = clock(at: now)
      // The zone changed while the daemon was off: its plans are for other times of day.
      if let planned = device.learnings.zoneOffset, planned != zoneOffset(at: now) {
        beginRound(.planning(everyApp: true), at: now)
      }
      device.learnings.zoneOffset = zoneOffset(at: now)
    }
    if let day = device.day, day < today { nightAt = now }
  }

  /// Plans anew the apps that a configuration has changed, and resumes the planning of the previous daemon.
  mutating func replan(after limitsBefore: Limits, _ turn: inout Turn) {
    let budget = Budget(profile: limits.profile)
    let isOther = device.learnings.budget.refreshesPerAppAndDay != budget.refreshesPerAppAndDay
    device.learnings.change(to: budget)
    if isOther { turn.decision.changes.device.insert(.habits) }
    plansAny = apps.indexes.contains { isPlanned(apps[$0]) }
    if device.day == nil, plansAny {
      device.day = local(turn.now).day
      turn.decision.changes.device.insert(.habits)
    }
    setNight(at: turn.now)
    guard nightAt != nil else { return }
    let isEvery =
      isOther || limitsBefore.powerSaver != limits.powerSaver
      || limitsBefore.backgroundFloor != limits.backgroundFloor
    beginRound(.planning(everyApp: isEvery), at: turn.now)
  }

  /// Begins the night if it is due, or follows a change of daylight saving, unless a round is going on.
  mutating func beginNight(_ turn: inout Turn) {
    guard let nightAt, nightAt <= turn.now, round == nil else { return }
    let today = local(turn.now).day
    guard let day = device.day, day < today else {
      setNight(at: turn.now)
      return followClock(at: turn.now)
    }
    eraseOutdated(&turn)
    device.learnings.beginNight()
    beginRound(.absorbing, at: turn.now)
  }

  /// How many refreshes a day the interval of an app allows.
  private func mostADay(_ app: App) -> Double {
    guard let spacing = app.spacing(in: .background, limits: limits), spacing > .zero else { return .infinity }
    return LocalTime.minutesOfDay / spacing.inMinutes
  }

  /// Begins a round, in place of a lesser round that is going on.
  mutating func beginRound(_ step: Round.Step, at now: Instant) {
    if case .absorbing? = round?.step { return }
    if case .planning(everyApp: true)? = round?.step, step == .planning(everyApp: false) {
      round?.index = 0
      return
    }
    round = Round(step: step, since: now)
    guard step == .planning(everyApp: true) else { return }
    planClock = clock(at: now)
    device.learnings.zoneOffset = zoneOffset(at: now)
  }

  /// Begins the present round again from the first app, because the indexes of apps have changed.
  mutating func restartRound() {
    guard let round else { return }
    if round.step == .absorbing { device.learnings.beginNight() }
    self.round = Round(step: round.step, since: round.since)
  }

  /// Does a slice of the present round.
  mutating func goRound(_ turn: inout Turn) {
    guard var round else { return }
    var left = Self.slice
    while left > 0, Int(round.index) < apps.count {
      let index = round.index
      round.index += 1
      left -= Self.work.look
      guard isPlanned(apps[index]) else { continue }
      switch round.step {
      case .absorbing:
        left -= Self.work.absorb
        if let learned = apps.learned(of: index) { device.learnings.absorb(learned, most: mostADay(apps[index])) }
      case .planning(let everyApp): left -= renew(index, everyApp: everyApp, &turn)
      }
    }
    guard Int(round.index) == apps.count else { return self.round = round }
    self.round = nil
    guard round.step == .absorbing else { return }
    device.learnings.endNight()
    device.day = local(turn.now).day
    turn.decision.changes.device.insert(.habits)
    setNight(at: turn.now)
    beginRound(.planning(everyApp: true), at: turn.now)
  }

  /// Passes the nights of an app and plans it, if due; returns the cost in units of ``work``.
  private mutating func renew(_ index: AppIndex, everyApp: Bool, _ turn: inout Turn) -> Int {
    let today = local(turn.now).day
    // A day ahead is a mistake of the clock; at a start it stays, because the clock may not be set yet.
    let day = apps.learned(of: index)?.day.map(Int.init)
    let isNight = day.map { $0 < today || everyApp && $0 > today + 1 } ?? true
    let before = apps[index].state.planned
    guard isNight || everyApp || apps[index].needsPlan || before == nil else { return 0 }
    if isNight { passNights(of: index, upTo: today) }
    if apps[index].refreshing == nil { plan(index, at: turn.now) }
    if apps[index].state.planned != before { turn.decision.changes.apps.insert(apps.id(at: index)) }
    turn.touch(index)
    guard isNight else { return Self.work.plan }
    let missed = min(max(today - (day ?? today) - 1, 0), Use.mostDays - 1)
    return Self.work.plan + Self.work.night + missed * Self.work.missedDay
  }
}

extension Engine {
  /// Does a round for one app, as at an instant of the boot clock; the shared learners stay as they are.
  mutating func planAlone(_ id: AppID, at night: Instant) {
    guard let index = apps.index(of: id) else { return }
    let today = local(night).day
    let isNight = device.day.map { $0 < today } ?? false
    let isJump = planClock.map { abs($0 - clock(at: night)) >= Self.jump } ?? false
    if isNight {
      device.day = today
      passNights(of: index, upTo: today)
    }
    setNight(at: night)
    guard isNight || isJump else { return }
    planClock = clock(at: night)
    plan(index, at: night)
  }
}
