import HeapModule
import RefreshEngine

/// A machine in virtual time: its clocks, its daemon, its apps' processes, and all their faults.
///
/// It drives the engine exactly as the daemon does: one transaction with the changes and the ends, then the effects, then
/// one timer for the next wake. The seed decides everything.
public struct World: Sendable {
  var chance: Chance
  /// The time since the simulation began; it runs while the machine is off, and nothing in the world can read it.
  public internal(set) var now = Duration.zero
  var boot = 1
  var bootedAt = Duration.zero
  /// The error of the wall clock.
  var clockError = Duration.zero
  /// The time zone of the machine.
  var zone: Zone
  /// The conditions of the machine, which its daemon may not know yet.
  var weather = Weather()

  /// The store on disk.
  public internal(set) var store = Store()
  var isDiskFull = false
  /// Whether the disk may not answer for a while; then starts are performed late, and the daemon reports them.
  let hangs: Bool
  var isDiskHanging = false
  /// The effects to perform when the disk has answered.
  var postponed: [Effect] = []
  var limits: Limits
  var policies: [AppID: Policy] = [:]
  /// The correct policies of the apps whose files have a mistake.
  var spoiled: [AppID: Policy] = [:]
  let ids: [AppID]
  /// Whether apps have quiet hours, so that a step of the wall clock does move something.
  let hasQuiet: Bool
  /// Whether apps are planned from learnt habits, so that a step of the wall clock moves the next night.
  var isPlanned: Bool { planned > 0 }
  /// How many apps of a hundred are planned.
  let planned: Int

  /// The daemon's engine; nil while there is no daemon.
  public internal(set) var brain: Brain?
  let fault: PlantedFault?
  var unsaved = Changes()
  /// The time at which the daemon's timer fires: at the engine's next wake, or a little later.
  var timer: (armedFor: Window, firesAt: Duration)?
  /// The place in the daemon's next turn at which it is killed.
  var doom: Doom?
  /// The last time at which the daemon read the clock, in this start.
  var lastTurn: Instant?
  var afterExit = AfterExit.restart
  var processes: [Process] = []
  /// Whether the launcher keeps tasks, and their ends, while no daemon runs, as the service manager does.
  let outlives: Bool
  /// The ends of tasks that the launcher keeps because the end of their refresh is not saved.
  var kept: [RefreshID: [Int: TaskEnd]] = [:]
  /// The refreshes that the stopping daemon leaves to the next one.
  var leaving: Set<RefreshID> = []
  /// The apps with a process that attaches as soon as it can.
  var clients: Set<AppID> = []
  /// How many policies of a hundred are of the kinds that attached apps introduced.
  let varied: Int
  /// A second generator for newer events, so that old seeds keep their traces.
  var dice: Chance

  /// The transfers that workers move.
  var moving: [TransferID: Moving] = [:]
  var lastTransfer: UInt64 = 0
  /// The generator for transfers, for the same reason.
  var luck: Chance

  var lastPush: UInt64 = 0
  /// How many pushes may wake each app.
  var pushLimit = PushLimit()
  /// The generator for pushes, for the same reason.
  var fortune: Chance

  /// The generator for syncs by apps and for reports of long waits, for the same reason.
  var whim: Chance

  /// The generator for changes in watched folders, for the same reason.
  var flux: Chance
  /// How many apps of a hundred have a watched folder.
  let watching: Int

  /// The generator for apps' own conditions, for the same reason.
  var quirk: Chance
  /// Whether apps have conditions of their own.
  let hasOwnConditions: Bool
  /// Whether the disk of apps is present.
  var hasDisk = true
  var saysNo = false
  /// The commands without an answer yet.
  var questions: [RunID: Run] = [:]

  private var agenda = Heap<Happening>()
  private var happenings: UInt64 = 0
  var lastLease: UInt64 = 0
  /// The time since which no trouble occurs; nil while trouble occurs.
  public internal(set) var healedAt: Duration?

  /// The expectations of the checks.
  public internal(set) var book = Bystander()
  var checks: [any Invariant]
  /// The violations that the checks found, the first of each.
  public internal(set) var violations: [Violation] = []
  /// The trace as text, and its hash.
  public internal(set) var trace: Trace

  /// Places in a turn of the daemon at which SIGKILL is worst.
  enum Doom: Sendable { case beforeSaving, beforePerforming, amidEffects }

  /// The steps after the orderly end of the daemon.
  enum AfterExit: Sendable { case restart, reboot }

  /// A world of one seed, with its machine just booted and its daemon about to start.
  ///
  /// `apps` is how many apps there are; nil for a number that the seed decides.
  public init(
    seed: UInt64, apps: Int? = nil, isPlanned: Bool? = nil, mayHang: Bool? = nil, fault: PlantedFault? = nil,
    checks: [any Invariant],
    keepsTrace: Bool = false
  ) {
    var chance = Chance(seed: seed)
    let size = chance.happens(5) ? 20 : 2 + chance.number(below: 9)
    ids = Fleet.ids(apps ?? size)
    limits = Fleet.limits(&chance)
    hasQuiet = chance.happens(50)
    // Plans take most of the time, so few fleets have them.
    let isOfFew = chance.happens(6)
    planned = isPlanned == true ? 50 : isOfFew ? 10 : 0
    dice = Chance(seed: seed &* 0x9e37_79b9_7f4a_7c15)
    luck = Chance(seed: seed &* 0xd134_2543_de82_ef95)
    fortune = Chance(seed: seed &* 0xa076_1d64_78bd_642f)
    (outlives, varied) = (dice.happens(50), dice.happens(50) ? 15 : 0)
    whim = Chance(seed: seed &* 0x8cb9_2ba7_2f3d_8dd7)
    var misfortune = Chance(seed: seed &* 0xb546_7a1d_5f2c_9e37)
    quirk = Chance(seed: seed &* 0x2127_599b_f432_5c37)
    hasOwnConditions = quirk.happens(40)
    flux = Chance(seed: seed &* 0x94d0_49bb_1331_11eb)
    watching = flux.happens(40) ? 40 : 0
    hangs = mayHang ?? misfortune.happens(30)
    book.awaitsBegin = hangs
    for id in ids where chance.happens(80) {
      policies[id] = Fleet.policy(hasQuiet: hasQuiet, planned: planned, &chance)
    }
    zone = chance.pick(Weather.zones)
    self.chance = chance
    self.fault = fault
    self.checks = checks
    trace = Trace(keepsLines: keepsTrace)
    pushLimit = PushLimit(perHour: 3 + fortune.number(below: 3), burst: 1 + fortune.number(below: 6))
    for (id, policy) in policies.sorted(by: { $0.key < $1.key }) { policies[id] = vary(policy) }
    expect(.daemonStarts, in: .seconds(1))
    expect(.chance, in: .minutes(1))
    if varied > 0 { expect(.more, in: .minutes(2)) }
    if luck.happens(50) { expect(.moves, in: .minutes(3)) }
    if fortune.happens(50) { expect(.pushes, in: .minutes(4)) }
    if whim.happens(50) { expect(.syncs, in: .minutes(5)) }
    if watching > 0 { expect(.writes, in: .minutes(7)) }
    if hasOwnConditions { expect(.own, in: .minutes(6)) }
    if hangs { expect(.diskHangs, in: .hours(1)) }
    boundTransfers()
  }

  /// The boot clock.
  public var instant: Instant { Instant(microseconds: (now - bootedAt).inMicroseconds) }

  /// Wall time minus boot time.
  var wallOffset: Duration { clockError + bootedAt }

  /// Plays for this long with all faults, and then without faults until all apps must be fresh.
  public mutating func run(for length: Duration) {
    play(until: length)
    heal()
    play(until: now + max(timeToBeFresh, timeToDeliver))
    observe(.finished)
  }

  /// The line that `simulate` prints, which is the same for the same decisions.
  public func summary(seed: UInt64, days: UInt64) -> String {
    let (trace, decisions) = (String(self.trace.hash, radix: 16), String(self.trace.decisionHash, radix: 16))
    return "seed \(seed) days \(days) trace \(trace) decisions \(decisions) starts \(self.trace.starts)"
      + " daemons \(store.starts)"
  }

  private mutating func play(until end: Duration) {
    var turns = 0
    var moment = now
    while turns < 10_000 && (fault == nil || violations.isEmpty) {
      let process = processes.indices.min { before(processes[$0].next, processes[$1].next) }
      let processAt = process.flatMap { processes[$0].next }
      let moving = nextMoving
      guard let next = [processAt, timer?.firesAt, moving?.at, agenda.min?.at].compactMap({ $0 }).min(), next <= end
      else {
        now = max(now, end)
        return
      }
      now = max(now, next)
      if let process, processAt == next {
        act(process)
      } else if let moving, moving.at == next {
        endMoving(moving.id)
      } else if timer?.firesAt == next {
        timer = nil
        handle(.wokeUp)
      } else {
        happen(agenda.removeMin().kind)
      }
      turns = now == moment ? turns + 1 : 0
      moment = now
    }
    guard turns == 10_000 else { return }
    violations.append(Violation(check: "TimeGoesOn", problem: "10,000 turns in one moment", at: now))
  }

  mutating func expect(_ kind: Happening.Kind, in delay: Duration) {
    happenings += 1
    agenda.insert(Happening(at: now + delay, number: happenings, kind: kind))
  }

  mutating func forget(_ kind: Happening.Kind) {
    agenda = Heap(agenda.unordered.filter { $0.kind != kind })
  }

  /// Ends all faults and all actions of users; the rest must come to rest by itself.
  private mutating func heal() {
    healedAt = now
    isDiskFull = false
    diskAnswers()
    doom = nil
    afterExit = .restart
    let isOff = agenda.unordered.contains { $0.kind == .boots }
    agenda = Heap()
    weather = Weather()
    clients.formUnion(policies.filter(\.value.tasks.isEmpty).map(\.key))
    if isOff { bootMachine() } else if brain == nil { startDaemon() }
    for id in spoiled.keys.sorted() { mendFile(of: id) }
    for observation in weather.observations { handle(.observed(observation)) }
    endOwnTroubles()
    handle(.paused(nil))
    expect(.again(.paused(nil)), in: .minutes(1))
    if book.isSuspending { handle(.resumed) }
    for id in moving.keys { moving[id]?.report = .done }
    expect(.moves, in: .minutes(1))
    expect(.moves, in: .hours(3))
    expect(.pushes, in: .minutes(1))
    expect(.pushes, in: .hours(3))
    for id in clients.sorted() { expect(.attaches(id), in: .minutes(1)) }
    for (id, app) in book.apps.sorted(by: { $0.key < $1.key }) where app.phase == .foreground {
      for lease in app.leases.keys.sorted() { handle(.leaseEnded(lease, id)) }
      handle(.shown(id, .unknown))
      handle(.signalled(id, .background))
    }
  }

  /// Longer than the longest interval in force, the rest after overruns, a backlog and a deadline.
  private var timeToBeFresh: Duration {
    policies.keys.compactMap { id in
      var app = book.apps[id] ?? Bystander.App()
      app.policy = policies[id]
      // The plan ends at the ceiling.
      guard let spacing = app.spacing(limits) else { return nil }
      return app.policy?.backgroundInterval.isAuto == true ? max(spacing, app.maxStale) : spacing
    }.reduce(.hours(24), max) + Self.patience + (hasQuiet ? .hours(13) : .zero)
  }

  /// How long the push limits may keep the waiting pushes, of which the last token is only for urgent ones.
  private var timeToDeliver: Duration {
    Dictionary(grouping: store.pushes.values, by: \.app).compactMap { id, waiting in
      policies[id].map { $0.pushLimit.span * (waiting.count / $0.pushLimit.most(for: .normal) + 3) }
    }.reduce(.zero, max) + Self.patience
  }

  /// The most by which an app may be fresh later than its interval: the daemon's restart, a backlog, twice the longest
  /// deadline of a refresh that hangs, and the longest window.
  static let patience = Duration.minutes(55)

  mutating func observe(_ observation: Observation) {
    trace.note(observation, at: now, brain: brain, instant: instant)
    var watching = checks
    checks = []
    for index in watching.indices {
      guard let problem = watching[index].observe(observation, in: self) else { continue }
      let name = String(describing: type(of: watching[index]))
      if !violations.contains(where: { $0.check == name }) {
        violations.append(Violation(check: name, problem: problem, at: now))
      }
    }
    checks = watching
  }
}

private func before(_ left: Duration?, _ right: Duration?) -> Bool {
  guard let left else { return false }
  return right.map { left < $0 } ?? true
}
