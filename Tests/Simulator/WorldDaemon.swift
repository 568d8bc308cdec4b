import RefreshEngine

/// The daemon of the simulation: saves, performs, arms; starts, stops and is killed.
extension World {
  mutating func handle(_ event: Event) {
    let instant = instant
    let engineBefore = event.isClockStep && book.lateClock == nil ? brain?.engine : nil
    guard let decision = brain?.handle(event, at: instant), let after = brain else { return }
    var before = book.apps(in: event, decision)
    book.take(event, decision, at: instant)
    // If time off was counted, past instants lie further back.
    if let timeOff = book.timeOff { before = timeOff.passing(before) }
    let turn = Turn(
      event: event, decision: decision, engineBefore: engineBefore, before: before, previously: lastTurn)
    lastTurn = instant
    observe(.handled(turn))
    if isDoomed(.beforeSaving) { return }
    if fault?.ofDaemon == .performsBeforeSaving { perform(decision.effects) }
    // A signal to a task does not wait for the disk.
    let effects = hangs ? decision.effects.filter(\.isSavedFirst) : decision.effects
    if hangs, fault?.ofDaemon != .signalsWaitForDisk || !isDiskHanging {
      perform(decision.effects.filter { !$0.isSavedFirst })
    }
    unsaved.merge(decision.changes)
    save()
    if isDoomed(.beforePerforming) { return }
    if doom == .amidEffects, effects.count > 1 {
      if !isDiskHanging { perform(effects.dropLast(1 + chance.number(below: effects.count - 1))) }
      kill()
      return
    }
    if isDiskHanging, fault?.ofDaemon != .doesNotWaitForDisk {
      postponed += effects
    } else if fault?.ofDaemon != .performsBeforeSaving {
      perform(effects)
    }
    guard brain != nil else { return }
    arm()
    if after.engine.isStopping, after.engine.transferCounts.running == 0,
      after.engine.refreshes.allSatisfy(leaving.contains)
    {
      exit()
    }
  }

  mutating func startDaemon() {
    guard !isDiskFull, !isDiskHanging else {
      expect(.daemonStarts, in: .seconds(10))
      return
    }
    // The daemon ends the tasks of its predecessor before it continues, unless its launcher keeps them.
    if fault?.ofDaemon != .leavesOrphans, !outlives { processes = [] }
    let now = instant
    let isFreshBoot = store.starts == 0 || store.boot != boot
    let savedOffset = store.wallOffset
    let restored = store.load(boot: boot, now: now, wallOffset: wallOffset)
    book.lateClock = restored.clock
    if let shift = restored.shift {
      book.shift(by: shift)
    } else {
      book.step(whileDownFrom: savedOffset, to: wallOffset, at: now)
    }
    brain = Brain(
      start: store.starts, store: store, wallOffset: wallOffset, zone: zone,
      lateClock: fault?.ofDaemon == .forgetsTimeOff ? nil : book.lateClock, awaitsBegin: hangs, fault: fault)
    lastTurn = nil
    book.wallOffset = wallOffset
    book.zone = zone
    observe(.daemonStarted)
    spoilFiles()
    tellSurvivors()
    handle(.configured(limits, policies))
    tellKeptEnds()
    for id in clients.sorted() { expect(.attaches(id), in: dice.duration(.zero ... .seconds(10))) }
    if isFreshBoot { handle(.resumed) }
    expect(.sourcesAnswer, in: chance.duration(.zero ... .seconds(2)))
  }

  /// Kills the daemon: unsaved changes are lost, and processes continue.
  mutating func kill() {
    guard brain != nil else { return }
    lose()
    expect(.daemonStarts, in: chance.duration(chance.pick([.zero ... .seconds(1), .zero ... .minutes(10)])))
  }

  /// Cuts the power: processes end too, and the machine is off for a while.
  mutating func cutPower() {
    lose()
    (processes, kept) = ([], [:])
    forget(.daemonStarts)
    expect(.boots, in: chance.duration(chance.pick([.seconds(10) ... .minutes(2), .minutes(2) ... .hours(60)])))
  }

  mutating func bootMachine() {
    boot += 1
    bootedAt = now
    if chance.happens(20) { clockError = chance.duration(.hours(-72) ... .hours(72)) }
    // Without a clock of its own, the machine gets the time only from the network.
    if luck.happens(20), healedAt == nil {
      expect(.clockIsSet(clockError), in: luck.duration(luck.pick([.zero ... .minutes(1), .zero ... .minutes(20)])))
      clockError -= luck.duration(luck.pick([.minutes(1) ... .hours(5), .hours(1000) ... .hours(3000)]))
    }
    expect(.daemonStarts, in: chance.duration(.zero ... .seconds(20)))
  }

  private mutating func exit() {
    guard afterExit == .restart else { return cutPower() }
    lose()
    expect(.daemonStarts, in: chance.duration(.zero ... .minutes(10)))
  }

  private mutating func lose() {
    brain = nil
    timer = nil
    doom = nil
    (unsaved, postponed) = (Changes(), [])
    leaving = []
    processes.removeAll(where: \.isAttached)
    moving = [:]
    book.loseUnsaved()
    observe(.daemonGone)
  }

  private mutating func isDoomed(_ point: Doom) -> Bool {
    guard doom == point else { return false }
    kill()
    return true
  }

  mutating func save() {
    guard !isDiskFull, !isDiskHanging, let brain, !unsaved.isEmpty || brain.engine.wallOffset != store.wallOffset else {
      return
    }
    let changes = unsaved
    unsaved = Changes()
    store.save(changes, of: brain.engine, at: instant)
    book.save(changes)
    for record in changes.history.refreshes { kept[record.id] = nil }
    observe(.saved(changes))
  }

  private mutating func arm() {
    guard let wake = brain?.nextWake else {
      timer = nil
      return
    }
    guard timer?.armedFor != wake else { return }
    let due = Duration.microseconds(wake.earliest.microseconds) + bootedAt
    let slack = wake.earliest.duration(to: wake.latest)
    let isLate = due > now && chance.happens(10)
    // The kernel may fire anywhere in the window, together with other timers.
    let within = isLate || slack <= .zero ? .zero : chance.duration(.zero...slack)
    let lateness = isLate ? slack + chance.duration(.zero ... .seconds(2)) : within
    timer = (armedFor: wake, firesAt: max(now, due + lateness))
  }

  private mutating func perform(_ effects: some Sequence<Effect>) {
    for effect in effects where brain != nil {
      guard begin(effect) else { continue }
      observe(.performed(effect))
      switch effect {
      case .start(let id, let app, _, let decided):
        let deadline = hangs ? book.apps[app]?.run?.deadline ?? decided : decided
        if policies[app]?.isProcessing == true { disturb() }
        for (task, policy) in (policies[app]?.tasks ?? []).enumerated() where policy.after.isEmpty {
          run(task, of: id, app, until: deadline)
        }
      case .startTask(let id, let app, let task):
        run(task, of: id, app, until: book.apps[app]?.run?.deadline ?? instant)
      case .perform(let id, let app, _, let decided):
        let deadline = hangs ? book.apps[app]?.run?.deadline ?? decided : decided
        processes.append(
          Process(
            id, app, task: 0, deadline: max(.zero, instant.duration(to: deadline)), now: now,
            isHealed: healedAt != nil, &dice
          ).attached)
      case .ask(let question): ask(question)
      case .warn, .reportStale, .reportHeld, .reportEnd, .reportStuck, .keep, .giveBack, .reportLeftUnit: break
      case .transfer(let id, let app): move(id, of: app)
      case .stopTransfer(let id, let app, _): stopMoving(id, of: app)
      case .terminate(let id, _, _):
        for index in processes.indices where processes[index].refresh == id { processes[index].terminate(at: now) }
      case .kill(let id, _):
        for index in processes.indices where processes[index].refresh == id { processes[index].kill(at: now) }
      }
    }
  }

  /// Tells the engine that a start is performed now; returns false if the refresh must not start any more.
  private mutating func begin(_ effect: Effect) -> Bool {
    // The daemon gives no transfer to a stopped worker, and none that a worker already has.
    if hangs, case .transfer(let id, _) = effect {
      return moving[id] == nil && brain?.engine.transferState(of: id)?.stage == .transferring
    }
    guard hangs, let new = effect.beginning, fault?.ofDaemon != .concealsStarts else { return true }
    if brain?.engine.isAwaitingBegin(new.id) == true {
      handle(.began(new.id))
    } else if fault?.ofDaemon != .startsWhatWasStopped {
      return false
    }
    return fault?.ofDaemon == .startsWhatWasStopped || book.apps[new.app]?.run?.id == new.id
  }

  /// Makes the disk answer: saves the pending decisions, and then performs them.
  mutating func diskAnswers() {
    isDiskHanging = false
    guard brain != nil else { return }
    save()
    let effects = postponed
    postponed = []
    perform(effects)
    if brain != nil { handle(.wokeUp) }
  }

  private mutating func run(_ task: Int, of id: RefreshID, _ app: AppID, until deadline: Instant) {
    var process = Process(
      id, app, task: task, deadline: max(.zero, instant.duration(to: deadline)), now: now,
      isHealed: healedAt != nil, &chance)
    if outlives {
      let left = max(.zero, instant.duration(to: deadline))
      process.bound(at: now + left + .seconds(1) + (policies[app]?.grace ?? .zero), since: now)
    }
    processes.append(process)
  }

  /// Makes a process do its next action: report, or end.
  mutating func act(_ index: Int) {
    let process = processes[index]
    if let said = process.says.first, process.next == said.at {
      processes[index].says.removeFirst()
      handle(.completed(process.refresh, task: process.task, said.outcome, message: ""))
      return
    }
    processes.remove(at: index)
    if let said = process.says.first {
      expect(.again(.completed(process.refresh, task: process.task, said.outcome, message: "")), in: .seconds(1))
    }
    if process.isAttached { return endAttached(process) }
    if outlives {
      var end = process.end
      end.duration = process.startedAt.map { now - $0 }
      kept[process.refresh, default: [:]][process.task] = end
    }
    // A launcher waits for the processes of its own start only.
    guard process.refresh.run.start == store.starts || outlives else { return }
    if fault?.ofDaemon == .losesEndsOfTasks, process.refresh.run.number % 5 == 0 { return }
    let end = Event.taskEnded(process.refresh, task: process.task, process.end)
    if process.end.exit != .exited(0), luck.happens(15) {
      handle(.retryAfter(process.refresh, luck.duration(.zero ... .hours(2))))
    }
    handle(end)
    if healedAt == nil, chance.happens(3) { handle(end) }
  }

  /// Makes an attached process report its outcome, or gives it up.
  private mutating func endAttached(_ process: Process) {
    guard process.end.exit != .lostClient else {
      return handle(.taskEnded(process.refresh, task: 0, process.end))
    }
    let outcome: Outcome =
      switch process.end.exit {
      case .exited(0): .newData
      case .exited(100): .noData
      default: .failed(.reported("no server"))
      }
    handle(.completed(process.refresh, task: 0, outcome, message: ""))
    handle(.taskEnded(process.refresh, task: 0, TaskEnd(exit: .exited(0))))
  }
}
