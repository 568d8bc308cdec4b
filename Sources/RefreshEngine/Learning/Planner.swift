// Learning from refreshes and openings, and the plan that follows.

extension Engine {
  /// The local time at an instant of the boot clock.
  func local(_ instant: Instant) -> LocalTime { judge.clock.local(instant) }

  /// Learns that the user has brought an app to the foreground, and plans again: a met habit is not expected again.
  ///
  /// `begun` is when a desktop first showed the app in front, boot clock; nil for an opening by signal.
  mutating func learnOpening(of index: AppIndex, observedAt begun: Instant? = nil, _ turn: inout Turn) {
    let change = Opening.Change.began(isObserved: begun != nil)
    let id = apps.id(at: index)
    turn.decision.changes.history.openings.append(Opening(app: id, at: begun ?? turn.now, change: change))
    apps[index].isOpen = true
    guard apps[index].policy?.isAdaptive == true else { return }
    let moment = local(turn.now)
    var isFirst = false
    apps.learn(of: index) { isFirst = $0.opened(at: moment) }
    // Saved with the next refresh or at the stop: an opening alone is not worth a write of the learners.
    opened.insert(id)
    // A refresh that the opening asks for, or that is running, plans at its end.
    guard isFirst, apps[index].refreshing == nil, apps[index].state.request == nil else { return }
    plan(index, at: turn.now)
  }

  /// Learns from a refresh that has ended, and plans the next one.
  ///
  /// `freshBefore` is when the last sync before it began; nil if nobody knows whether that sync found new data.
  mutating func learn(from record: RefreshRecord, after freshBefore: Instant?, _ turn: inout Turn) {
    let id = record.app
    guard let index = apps.index(of: id), apps[index].policy?.isAdaptive == true else { return }
    let device = learnings
    let moment = local(record.startedAt)
    let isRun = record.trigger != .reported
    let seconds = record.startedAt.duration(to: record.endedAt).inSeconds
    let cpu = record.tasks.reduce(0) { $0 + $1.cpu.inSeconds }
    let bytes = record.bytes.map(Double.init)
    let isMetered = judge.conditions.network.value?.metered.isMetered ?? false
    // In the foreground the interval decides, not the price.
    let isChosen = record.trigger.isDeferrable && record.trigger != .retry && record.trigger != .change
    let isCharged = apps[index].phase == .background && isChosen && judge.isPlanned(apps[index])
    let lastSync = freshBefore.map { max($0, apps[index].newsAt ?? $0) }
    apps.learn(of: index) { learned in
      if isRun { learned.spent(duration: seconds, cpu: cpu, bytes: bytes, metered: isMetered) }
      // The price did not choose a refresh that the ceiling forced, or that a failure or a change asked for: such a refresh
      // is not charged.
      if isCharged, !learned.spending.isForced {
        learned.spending.today += Float(device.load(runSeconds: seconds, meteredBytes: isMetered ? bytes ?? 0 : 0))
      }
      // A refresh for a change on this machine tells nothing about its source. A failed task may have missed new data, so
      // that only new data of another task counts beside it.
      if record.outcome.isFresh || record.foundNew, record.trigger != .change, let lastSync {
        let gap = lastSync.duration(to: record.startedAt).inMinutes
        learned.synced(after: gap, at: moment, foundNew: record.foundNew, device)
      }
    }
    if record.foundNew, !record.outcome.isFresh { apps[index].newsAt = record.startedAt }
    turn.decision.changes.learned.insert(id)
    opened.remove(id)
    plan(index, at: turn.now)
  }

  /// Plans the next background refresh of an app between the end of its interval and its ceiling.
  ///
  /// The age of the data counts from the last start, even if that failed: a broken app costs no more than a working app.
  mutating func plan(_ index: AppIndex, at now: Instant) {
    let plan = currentPlan(index, at: now)
    let planned = plan.map { now + .microseconds(Int64($0.wait * 60e6)) }
    if let plan, apps.learned(of: index)?.spending.isForced != plan.isForced {
      apps.learn(of: index) { $0.spending.isForced = plan.isForced }
    }
    guard planned != apps[index].state.planned || apps[index].needsPlan else { return }
    apps[index].state.planned = planned
    apps[index].needsPlan = false
  }

  /// Makes a plan now; nil for an app that is not planned, or was never refreshed.
  func currentPlan(_ index: AppIndex, at now: Instant) -> Plan? {
    guard judge.isPlanned(apps[index]), let policy = apps[index].policy, let lastStart = apps[index].state.lastStart,
      let learned = apps.learned(of: index),
      let spacing = apps[index].spacing(in: .background, limits: judge.limits)
    else { return nil }
    return learned.plan(
      at: local(now), age: max(0, lastStart.duration(to: now).inMinutes),
      notBefore: max(0, now.duration(to: lastStart + spacing).inMinutes),
      ceiling: max(0, now.duration(to: lastStart + apps[index].maxStale).inMinutes), learningsInForce, policy.pins)
  }

  /// Forgets an app's learners, and the openings that desktops showed, which may belong to another app (`refreshctl usage
  /// APP --forget`).
  mutating func forget(_ id: AppID, _ turn: inout Turn) {
    guard let index = apps.index(of: id) else { return }
    apps.forget(index)
    turn.decision.changes.history.openingsForgotten[id] = true
    // The end of a forgotten opening would end an older opening.
    if !apps[index].isReportedForeground { apps[index].isOpen = false }
    if judge.isPlanned(apps[index]) { passNights(of: index, upTo: local(turn.now).day) }
    plan(index, at: turn.now)
    turn.touch(index)
    turn.decision.changes.learned.insert(id)
    turn.decision.changes.apps.insert(id)
  }
}

extension Policy {
  /// Whether the other policy may lead to another plan.
  func isPlannedUnlike(_ other: Policy) -> Bool {
    isAdaptive != other.isAdaptive || pins != other.pins || maxStale != other.maxStale
      || backgroundInterval != other.backgroundInterval
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double { Double(inMicroseconds) / 1e6 }
  /// The duration in minutes.
  var inMinutes: Double { Double(inMicroseconds) / 60e6 }
}

extension Engine {
  /// How many times dearer a refresh is while a power-saver profile is on.
  private static let saverFactor = 4.0

  /// The learnings of the machine, with the price in force.
  var learningsInForce: Learnings {
    var learnings = learnings
    if judge.limits.powerSaver == .dearer, judge.conditions.powerSaver.value == true {
      learnings.saverFactor = Self.saverFactor
    }
    return learnings
  }

  /// Ends the days of an app before `today`.
  mutating func passNights(of index: AppIndex, upTo today: Int) {
    let (device, policy) = (learningsInForce, apps[index].policy)
    let floor = apps[index].spacing(in: .background, limits: judge.limits)?.inMinutes ?? Use.timeslotMinutes
    apps.learn(of: index) {
      $0.passNights(upTo: today, floor: floor, ceiling: policy?.maxStale?.inMinutes, device, policy?.pins ?? Pins())
    }
  }
}

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
    if let passed = day, passed > today + 1 {
      day = today
      turn.decision.changes.device.insert(.habits)
      beginRound(.planning(everyApp: true), at: turn.now)
    }
    setNight(at: turn.now)
    followClock(at: turn.now)
  }

  /// Plans every app again if local time has jumped since the last plans: a plan is an instant, chosen for a time of day.
  mutating func followClock(at now: Instant) {
    guard let planClock, abs(planClock - clock(at: now)) >= Self.jump else { return }
    beginRound(.planning(everyApp: true), at: now)
  }

  /// Local time less boot time, in minutes.
  private func clock(at now: Instant) -> Double { local(now).minutes - Double(now.microseconds) / 60e6 }

  /// Minutes by which local time is ahead of UTC.
  private func zoneOffset(at now: Instant) -> Int32 {
    let wall = Double(judge.clock.wall(at: now)) / 60e6
    return Int32(clamping: Int((local(now).minutes - wall).rounded()))
  }

  /// The least jump of local time that plans follow, in minutes; a smaller jump corrects the clock.
  private static let jump = 1.0

  /// Sets when the next night begins: at local midnight, if any app is planned.
  mutating func setNight(at now: Instant) {
    guard day != nil, plansAny else {
      (nightAt, planClock) = (nil, nil)
      return
    }
    let (wall, zone) = (judge.clock.wall(at: now), judge.clock.zone)
    let today = zone.local(wall).day
    let midnight = zone.next(minuteOfDay: 0, from: wall + 1)
    let change = zone.changes.first { $0.at > wall }?.at ?? midnight
    nightAt = judge.clock.instant(atWall: min(midnight, change))
    if planClock == nil {
      planClock = clock(at: now)
      // The zone changed while the daemon was off: its plans are for other times of day.
      if let planned = learnings.zoneOffset, planned != zoneOffset(at: now) {
        beginRound(.planning(everyApp: true), at: now)
      }
      learnings.zoneOffset = zoneOffset(at: now)
    }
    if let day, day < today { nightAt = now }
  }

  /// Plans the apps again that a configuration has changed, and resumes the planning of the previous daemon.
  mutating func replan(after limitsBefore: Limits, _ turn: inout Turn) {
    let budget = Budget(profile: judge.limits.profile)
    let isOther = learnings.budget.refreshesPerAppAndDay != budget.refreshesPerAppAndDay
    learnings.change(to: budget)
    if isOther { turn.decision.changes.device.insert(.habits) }
    plansAny = apps.indexes.contains { judge.isPlanned(apps[$0]) }
    if day == nil, plansAny {
      day = local(turn.now).day
      turn.decision.changes.device.insert(.habits)
    }
    setNight(at: turn.now)
    guard nightAt != nil else { return }
    let isEvery =
      isOther || limitsBefore.powerSaver != judge.limits.powerSaver
      || limitsBefore.backgroundFloor != judge.limits.backgroundFloor
    beginRound(.planning(everyApp: isEvery), at: turn.now)
  }

  /// Begins the night if it is due, or follows a change of daylight saving, unless a round is going on.
  mutating func beginNight(_ turn: inout Turn) {
    guard let nightAt, nightAt <= turn.now, round == nil else { return }
    let today = local(turn.now).day
    guard let day, day < today else {
      setNight(at: turn.now)
      return followClock(at: turn.now)
    }
    eraseOutdated(&turn)
    learnings.beginNight()
    beginRound(.absorbing, at: turn.now)
  }

  /// How many refreshes a day the interval of an app allows.
  private func mostADay(_ app: App) -> Double {
    guard let spacing = app.spacing(in: .background, limits: judge.limits), spacing > .zero else { return .infinity }
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
    learnings.zoneOffset = zoneOffset(at: now)
  }

  /// Begins the present round again from the first app, because the indexes of apps have changed.
  mutating func restartRound() {
    guard let round else { return }
    if round.step == .absorbing { learnings.beginNight() }
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
      guard judge.isPlanned(apps[index]) else { continue }
      switch round.step {
      case .absorbing:
        left -= Self.work.absorb
        if let learned = apps.learned(of: index) { learnings.absorb(learned, most: mostADay(apps[index])) }
      case .planning(let everyApp): left -= renew(index, everyApp: everyApp, &turn)
      }
    }
    guard Int(round.index) == apps.count else { return self.round = round }
    self.round = nil
    guard round.step == .absorbing else { return }
    learnings.endNight()
    day = local(turn.now).day
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
    let isNight = day.map { $0 < today } ?? false
    let isJump = planClock.map { abs($0 - clock(at: night)) >= Self.jump } ?? false
    if isNight {
      day = today
      passNights(of: index, upTo: today)
    }
    setNight(at: night)
    guard isNight || isJump else { return }
    planClock = clock(at: night)
    plan(index, at: night)
  }
}
