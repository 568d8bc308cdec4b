/// Learns from refreshes and openings, and plans the next background refresh of each app.
///
/// It has the learners of each app and of the device. It reads apps and the judge, and gives back the planned instants; the
/// engine puts them in force.
struct Planner: Sendable {
  /// What all apps share of the learners.
  private(set) var learnings: DeviceHabits
  /// The local day up to which the nights have passed; nil before the first.
  private(set) var day: Int?
  /// When the next night begins, or the next change of daylight saving before it, boot clock; nil while no app is planned.
  private(set) var nightAt: Instant?
  /// The learners of each app; large, and few events touch them.
  private var learners = PerApp<AppHabits>()
  /// The apps that the user has opened since their learners were saved.
  private var opened: Set<AppID> = []
  /// The rest of a round through the apps, if one is under way.
  private var round: Round?
  /// Whether any app is planned.
  private var plansAny = false
  /// Local time less boot time, in minutes, on which the plans in force rely; nil while no app is planned.
  private var planClock: Double?

  init(learnings: DeviceHabits, day: Int?) { (self.learnings, self.day) = (learnings, day) }

  // MARK: - Learners

  /// What is learnt of an app; nil while nothing is learnt.
  func learned(of index: AppIndex) -> AppHabits? { learners[index] }

  /// Replaces what is learnt of an app; nil forgets it.
  mutating func setLearned(_ learned: AppHabits?, of index: AppIndex) { learners[index] = learned }

  /// Follows the apps to their new indexes, and begins the present round again.
  mutating func follow(_ moves: [(from: AppIndex, to: AppIndex)]) {
    var moved = PerApp<AppHabits>()
    for move in moves { if let learned = learners[move.from] { moved[move.to] = learned } }
    learners = moved
    guard let round else { return }
    if round.step == .absorbing { learnings.beginNight() }
    self.round = Round(step: round.step, since: round.since)
  }

  /// Learns that the user has opened an app; true if no opening was expected before.
  mutating func recordOpening(of app: App, at index: AppIndex, _ judge: Judge, now: Instant) -> Bool {
    // Saved with the next refresh or at the stop: an opening alone is not worth a write of the learners.
    opened.insert(app.id)
    return learners[index, default: AppHabits()].opened(at: judge.clock.local(now))
  }

  /// Learns from a refresh that has ended.
  ///
  /// `lastSync` is when the last sync before it began, or found new data; nil if nobody knows whether that sync found new
  /// data.
  mutating func learn(
    from record: RefreshRecord, of app: App, at index: AppIndex, after lastSync: Instant?, _ judge: Judge
  ) {
    let (device, moment) = (learnings, judge.clock.local(record.startedAt))
    let bytes = record.bytes.map(Double.init)
    let isMetered = judge.conditions.network.value?.metered.isMetered ?? false
    let seconds = record.startedAt.duration(to: record.endedAt).inSeconds
    // In the foreground the interval decides, not the price.
    let isChosen = record.trigger.isDeferrable && record.trigger != .retry && record.trigger != .change
    let isCharged = app.phase == .background && isChosen && app.isPlanned
    opened.remove(app.id)
    change(index) { learned in
      if record.trigger != .reported {
        let cpu = record.tasks.reduce(0) { $0 + $1.cpu.inSeconds }
        learned.spent(duration: seconds, cpu: cpu, bytes: bytes, metered: isMetered)
      }
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
  }

  private mutating func change(_ index: AppIndex, _ change: (inout AppHabits) -> Void) {
    change(&learners[index, default: AppHabits()])
  }

  /// Forgets the openings of an erased app that are not saved.
  mutating func erase(_ id: AppID, at index: AppIndex) {
    learners[index] = nil
    opened.remove(id)
  }

  /// Removes and returns the apps whose openings are not saved.
  mutating func takeOpened() -> Set<AppID> {
    defer { opened = [] }
    return opened
  }

  // MARK: - Plans

  /// How many times dearer a refresh is while a power-saver profile is on.
  private static let saverFactor = 4.0

  /// The learnings of the machine, with the price in force.
  func learningsInForce(_ judge: Judge) -> DeviceHabits {
    var learnings = learnings
    if judge.limits.powerSaver == .dearer, judge.conditions.powerSaver.value == true {
      learnings.saverFactor = Self.saverFactor
    }
    return learnings
  }

  /// Makes a plan now; nil for an app that is not planned, or was never refreshed.
  ///
  /// The age of the data counts from the last start, even if that failed: a broken app costs no more than a working app.
  func plan(of app: App, at index: AppIndex, _ judge: Judge, now: Instant) -> Plan? {
    guard app.isPlanned, let policy = app.policy, let lastStart = app.timetable.lastStart,
      let learned = learners[index], let spacing = app.spacing(in: .background, limits: judge.limits)
    else { return nil }
    return learned.plan(
      at: judge.clock.local(now), age: max(0, lastStart.duration(to: now).inMinutes),
      notBefore: max(0, now.duration(to: lastStart + spacing).inMinutes),
      ceiling: max(0, now.duration(to: lastStart + app.maxStale).inMinutes), learningsInForce(judge), policy.pins)
  }

  /// Plans the next background refresh of an app between the end of its interval and its ceiling, boot clock.
  mutating func nextPlanned(of app: App, at index: AppIndex, _ judge: Judge, now: Instant) -> Instant? {
    guard let plan = plan(of: app, at: index, judge, now: now) else { return nil }
    if learners[index]?.spending.isForced != plan.isForced { change(index) { $0.spending.isForced = plan.isForced } }
    return now + .microseconds(Int64(plan.wait * 60e6))
  }

  /// Ends the days of an app before `today`.
  mutating func passNights(of app: App, at index: AppIndex, upTo today: Int, _ judge: Judge) {
    let (device, policy) = (learningsInForce(judge), app.policy)
    let floor = app.spacing(in: .background, limits: judge.limits)?.inMinutes ?? Use.timeslotMinutes
    change(index) {
      $0.passNights(upTo: today, floor: floor, ceiling: policy?.maxStale?.inMinutes, device, policy?.pins ?? Pins())
    }
  }

  // MARK: - Nights and rounds

  /// The window of the next night, or of the next slice of a round; nil while no app is planned.
  var wake: Window? { round?.window ?? nightAt.map { Window(earliest: $0, latest: $0 + Self.nightWindow) } }

  /// Whether a round through the apps is under way.
  var isInRound: Bool { round != nil }

  /// How late the night may begin, so that it needs no wake of its own.
  static let nightWindow = Duration.minutes(15)
  /// The cost of a slice and of its steps, in units of about 6 µs: a slice takes half a millisecond.
  private static let slice = 80
  private static let work = (look: 1, absorb: 1, night: 60, missedDay: 5, plan: 15)
  /// The least jump of local time that plans follow, in minutes; a smaller jump corrects the clock.
  private static let jump = 1.0

  /// Applies a step of the wall clock.
  ///
  /// A clock that was ahead by more than a day was wrong: the nights that it passed come again.
  mutating func setClock(_ judge: Judge, _ turn: inout Turn) {
    let today = judge.clock.local(turn.now).day
    if let passed = day, passed > today + 1 {
      day = today
      turn.decision.changes.device.insert(.habits)
      beginRound(.planning(everyApp: true), judge, now: turn.now)
    }
    setNight(judge, now: turn.now)
    followClock(judge, now: turn.now)
  }

  /// Plans every app again if local time has jumped since the last plans: a plan is an instant, chosen for a time of day.
  mutating func followClock(_ judge: Judge, now: Instant) {
    guard let planClock, abs(planClock - judge.clock.minutesAhead(at: now)) >= Self.jump else { return }
    beginRound(.planning(everyApp: true), judge, now: now)
  }

  /// Sets when the next night begins: at local midnight, if any app is planned.
  mutating func setNight(_ judge: Judge, now: Instant) {
    guard day != nil, plansAny else {
      (nightAt, planClock) = (nil, nil)
      return
    }
    let (wall, zone) = (judge.clock.wall(at: now), judge.clock.zone)
    let midnight = zone.next(minuteOfDay: 0, from: wall + 1)
    let change = zone.changes.first { $0.at > wall }?.at ?? midnight
    nightAt = judge.clock.instant(atWall: min(midnight, change))
    if planClock == nil {
      planClock = judge.clock.minutesAhead(at: now)
      // The zone changed while the daemon was off: its plans are for other times of day.
      if let planned = learnings.zoneOffset, planned != judge.clock.zoneOffset(at: now) {
        beginRound(.planning(everyApp: true), judge, now: now)
      }
      learnings.zoneOffset = judge.clock.zoneOffset(at: now)
    }
    if let day, day < zone.local(wall).day { nightAt = now }
  }

  /// Considers an app whose interval has changed: it may be the first that is planned.
  mutating func consider(_ app: App, _ judge: Judge, now: Instant) {
    plansAny = plansAny || app.isPlanned
    setNight(judge, now: now)
  }

  /// Plans the apps again that a configuration has changed, and resumes the planning of the previous daemon.
  mutating func replan(after limitsBefore: Limits, _ apps: AppTable, _ judge: Judge, _ turn: inout Turn) {
    let (limits, budget) = (judge.limits, Budget(profile: judge.limits.profile))
    let isOther = learnings.budget.refreshesPerAppAndDay != budget.refreshesPerAppAndDay
    learnings.change(to: budget)
    if isOther { turn.decision.changes.device.insert(.habits) }
    plansAny = apps.indexes.contains { apps[$0].isPlanned }
    if day == nil, plansAny {
      day = judge.clock.local(turn.now).day
      turn.decision.changes.device.insert(.habits)
    }
    setNight(judge, now: turn.now)
    guard nightAt != nil else { return }
    let isEvery =
      isOther || limitsBefore.powerSaver != limits.powerSaver || limitsBefore.backgroundFloor != limits.backgroundFloor
    beginRound(.planning(everyApp: isEvery), judge, now: turn.now)
  }

  /// Begins the night if it is due, or follows a change of daylight saving, unless a round is going on; true for a night.
  mutating func beginNight(_ judge: Judge, now: Instant) -> Bool {
    guard let nightAt, nightAt <= now, round == nil else { return false }
    guard let day, day < judge.clock.local(now).day else {
      setNight(judge, now: now)
      followClock(judge, now: now)
      return false
    }
    learnings.beginNight()
    beginRound(.absorbing, judge, now: now)
    return true
  }

  /// Begins a round through the apps; it replaces a running round that does less.
  mutating func beginRound(_ step: Round.Step, _ judge: Judge, now: Instant) {
    if case .absorbing? = round?.step { return }
    if case .planning(everyApp: true)? = round?.step, step == .planning(everyApp: false) {
      round?.index = 0
      return
    }
    round = Round(step: step, since: now)
    guard step == .planning(everyApp: true) else { return }
    planClock = judge.clock.minutesAhead(at: now)
    learnings.zoneOffset = judge.clock.zoneOffset(at: now)
  }

  /// Does a slice of the present round, and returns the apps that it has renewed.
  mutating func goRound(_ apps: AppTable, _ judge: Judge, _ turn: inout Turn) -> [Renewed] {
    guard var round else { return [] }
    var (left, renewed) = (Self.slice, [Renewed]())
    while left > 0, Int(round.index) < apps.count {
      let index = round.index
      round.index += 1
      left -= Self.work.look
      guard apps[index].isPlanned else { continue }
      switch round.step {
      case .absorbing:
        left -= Self.work.absorb
        if let learned = learners[index] { learnings.absorb(learned, most: mostADay(apps[index], judge)) }
      case .planning(let everyApp):
        guard let one = renew(apps[index], at: index, everyApp: everyApp, judge, now: turn.now) else { continue }
        left -= one.work
        renewed.append(one)
      }
    }
    guard Int(round.index) == apps.count else {
      self.round = round
      return renewed
    }
    self.round = nil
    guard round.step == .absorbing else { return renewed }
    learnings.endNight()
    day = judge.clock.local(turn.now).day
    turn.decision.changes.device.insert(.habits)
    setNight(judge, now: turn.now)
    beginRound(.planning(everyApp: true), judge, now: turn.now)
    return renewed
  }

  /// How many refreshes a day the interval of an app allows.
  private func mostADay(_ app: App, _ judge: Judge) -> Double {
    guard let spacing = app.spacing(in: .background, limits: judge.limits), spacing > .zero else { return .infinity }
    return LocalTime.minutesOfDay / spacing.inMinutes
  }

  /// An app whose nights have passed, or whose next refresh is planned again.
  struct Renewed {
    let index: AppIndex
    /// The cost, in units of ``Planner/work``.
    let work: Int
    /// The new plan; nil if the present plan stays, because a refresh runs.
    var planned: Instant??
  }

  /// Passes the nights of an app and plans it, if due.
  private mutating func renew(
    _ app: App, at index: AppIndex, everyApp: Bool, _ judge: Judge, now: Instant
  ) -> Renewed? {
    let today = judge.clock.local(now).day
    // A day ahead is a mistake of the clock; at a start it stays, because the clock may not be set yet.
    let day = learners[index]?.day.map(Int.init)
    let isNight = day.map { $0 < today || everyApp && $0 > today + 1 } ?? true
    guard isNight || everyApp || app.timetable.needsPlan || app.timetable.planned == nil else { return nil }
    if isNight { passNights(of: app, at: index, upTo: today, judge) }
    let missed = min(max(today - (day ?? today) - 1, 0), Use.mostDays - 1)
    let night = isNight ? Self.work.night + missed * Self.work.missedDay : 0
    var renewed = Renewed(index: index, work: Self.work.plan + night)
    if app.refreshing == nil { renewed.planned = .some(nextPlanned(of: app, at: index, judge, now: now)) }
    return renewed
  }

  /// This planner with one app alone, at index 0, as it is after `night`, boot clock.
  ///
  /// A plan is due if a night or a jump of local time has come by then. The shared learners stay as they are.
  func alone(_ app: App, at index: AppIndex, _ judge: Judge, night: Instant) -> (planner: Planner, isDue: Bool) {
    var alone = self
    alone.follow([(from: index, to: 0)])
    let today = judge.clock.local(night).day
    let isNight = day.map { $0 < today } ?? false
    let isJump = planClock.map { abs($0 - judge.clock.minutesAhead(at: night)) >= Self.jump } ?? false
    if isNight {
      alone.day = today
      alone.passNights(of: app, at: 0, upTo: today, judge)
    }
    alone.setNight(judge, now: night)
    if isNight || isJump { alone.planClock = judge.clock.minutesAhead(at: night) }
    return (alone, isNight || isJump)
  }
}

/// A round through all apps; each wake does a slice of it.
///
/// In the night's round the past fades; other rounds follow a change that affects every plan.
struct Round: Sendable {
  /// The work on each app.
  enum Step: Hashable, Sendable {
    /// Adds it to the means of the night.
    case absorbing
    /// Passes its nights and plans its next refresh; without `everyApp` only if either is due.
    case planning(everyApp: Bool)
  }

  let step: Step
  /// The index of the next app.
  var index: AppIndex = 0
  /// When it began, boot clock.
  let since: Instant

  init(step: Step, since: Instant) { (self.step, self.since) = (step, since) }

  /// The window of the next slice, which is due at once.
  var window: Window { Window(earliest: since, latest: since) }
}

extension LocalClock {
  /// Local time less boot time, in minutes.
  func minutesAhead(at now: Instant) -> Double { local(now).minutes - Double(now.microseconds) / 60e6 }

  /// Minutes by which local time is ahead of UTC.
  func zoneOffset(at now: Instant) -> Int32 {
    Int32(clamping: Int((local(now).minutes - Double(wall(at: now)) / 60e6).rounded()))
  }
}

extension Policy {
  /// Whether the other policy may lead to another plan.
  func isPlannedUnlike(_ other: Policy) -> Bool {
    pins != other.pins || maxStale != other.maxStale || backgroundInterval != other.backgroundInterval
  }
}

extension Duration {
  /// The duration in seconds.
  var inSeconds: Double { Double(inMicroseconds) / 1e6 }
  /// The duration in minutes.
  var inMinutes: Double { Double(inMicroseconds) / 60e6 }
}
