// What happens to the machine: conditions, the user's pause, sleep, and the clock.

extension Engine {
  /// Applies a condition: judges held apps again, and warns, stops or keeps the running refreshes that it concerns.
  mutating func observe(_ observation: Observation, _ turn: inout Turn) {
    let before = judge.conditions
    judge.apply(observation)
    let conditions = judge.conditions
    guard conditions != before else { return }
    if judge.pause == .untilAC, conditions.power.value?.onBattery == false { setPause(nil, &turn) }
    turn.touched.insert(schedule.followers)
    if conditions.network != before.network || conditions.facts != before.facts { transfers.touch() }
    if conditions.network != before.network { askSooner(at: turn.now) }
    if before.powerSaver.value != conditions.powerSaver.value, judge.limits.powerSaver == .dearer {
      planner.beginRound(.planning(everyApp: true), judge, now: turn.now)
    }
    for id in judge.running.apps() {
      guard let index = apps.index(of: id), let policy = apps[index].policy, let refreshing = apps[index].refreshing
      else { continue }
      if apps[index].ignoresConditions(for: refreshing.started.trigger) { continue }
      let required = Constraint.allCases.filter { $0.isRequiredThroughout(byLongWork: policy.isProcessing) }
      // A condition without an answer yet is not lost: a refresh that survived the previous daemon goes on.
      let lost = required.filter {
        !judge.isUnanswered($0, of: policy.constraints, by: apps[index])
          && !judge.isMet($0, by: apps[index], at: turn.now)
      }
      let (detail, now) = (judge.text(lacking: lost, by: apps[index]), turn.now)
      changeRefreshing(of: index, &turn) { refreshing in
        if !lost.isEmpty { return refreshing.lose(detail, app: id, at: now) }
        refreshing.regain(at: now)
        return nil
      }
    }
  }

  /// Pauses all apps, or ends the pause; running refreshes go on.
  mutating func setPause(_ pause: Pause?, _ turn: inout Turn) {
    guard judge.setPause(pause) else { return }
    transfers.touch()
    turn.decision.changes.device.insert(.pause)
    turn.touched.insert(schedule.followers)
  }

  /// Ends a pause that is over.
  mutating func endPause(_ turn: inout Turn) {
    if judge.pause?.isOver(at: turn.now) == true { setPause(nil, &turn) }
  }

  /// Asks the commands that said no again soon, because the network has changed or the machine has resumed.
  private mutating func askSooner(at now: Instant) {
    for index in schedule.followers where !apps[index].questions.isEmpty {
      apps[index].questions.askSooner(at: now, ofGuard: apps[index].isGuard)
    }
  }
}

// Sleep: refreshes end before the machine sleeps; after the resume nothing deferrable starts until it has settled.

extension Engine {
  /// Warns and stops running refreshes before the machine sleeps; nothing starts until the resume.
  mutating func suspend(until end: Instant, _ turn: inout Turn) {
    judge.suspend()
    transfers.touch()
    turn.touched.insert(apps.indexes)
    let now = turn.now
    for id in judge.running.apps() {
      guard let index = apps.index(of: id) else { continue }
      changeRefreshing(of: index, &turn) { $0.sleep(at: end, app: id, from: now) }
    }
  }

  /// Lets the machine settle, then spreads the backlog, the stalest app first.
  mutating func resume(_ turn: inout Turn) {
    judge.resume(at: turn.now)
    transfers.touch()
    for id in judge.running.apps() {
      guard let index = apps.index(of: id) else { continue }
      changeRefreshing(of: index, &turn) { refreshing in
        refreshing.stayAwake()
        return nil
      }
    }
    turn.touched.insert(schedule.followers)
    askSooner(at: turn.now)
    catchUp(&turn, byStaleness: true)
    turn.touched.insert(apps.indexes.filter { judge.reportsStaleAt(apps[$0]) != nil })
  }
}

// The wall clock and the time zone.

extension Engine {
  /// Sets the wall clock, and judges again what depends on it.
  mutating func setWall(_ offset: Duration, _ turn: inout Turn) {
    let before = judge.clock.wallOffset
    judge.setWall(offset)
    countTimeOff(stepFrom: before, &turn)
    planner.setClock(judge, &turn)
    touchByClock(&turn)
  }

  /// Sets the time zone, and judges again what depends on it.
  mutating func setZone(_ zone: Zone, _ turn: inout Turn) {
    judge.setZone(zone)
    planner.setNight(judge, now: turn.now)
    planner.followClock(judge, now: turn.now)
    touchByClock(&turn)
  }

  /// Marks every app whose verdict depends on the wall clock: held apps and apps with quiet hours.
  private func touchByClock(_ turn: inout Turn) {
    turn.touched.insert(schedule.followers)
    turn.touched.insert(apps.indexes.filter { apps[$0].policy?.quiet != nil })
  }

  /// Counts the rest of the time for which the machine was off, at the first large step of a late clock.
  private mutating func countTimeOff(stepFrom before: Duration, _ turn: inout Turn) {
    let wallOffset = judge.clock.wallOffset
    guard let late = judge.clock.late, late.isSettled(by: wallOffset, after: before) else { return }
    judge.settleClock()
    let off = late.timeOff(by: wallOffset)
    guard off > .zero else { return }
    for index in apps.indexes {
      let id = apps.id(at: index)
      let restored = late.ahead.apps[id]
      let change = late.passing(off, restored: restored)
      apps[index].restore(apps[index].saved.passed(off, late, restored: restored))
      apps[index].mailbox.move(of: id, change, &turn)
      turn.decision.changes.apps.insert(id)
    }
    turn.touched.insert(apps.indexes)
    transfers.pass(off, late, judge.limits.transfers, &turn)
    if case .until(let end)? = judge.pause, end == late.ahead.pause {
      setPause(.until(end - off), &turn)
      endPause(&turn)
    }
    catchUp(&turn, byStaleness: true)
  }
}
