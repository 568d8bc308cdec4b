import RefreshEngine

/// An event from outside of the daemon, with its time.
struct Happening: Comparable, Sendable {
  enum Kind: Equatable, Sendable {
    /// A random event, and the same kind again later.
    case chance
    /// A late or repeated event.
    case again(Event)
    case diskHasRoom
    /// The disk stops answering, or answers again.
    case diskHangs
    case diskAnswers
    /// The wall clock of this boot is set; the value is its error from now on.
    case clockIsSet(Duration)
    /// A mistake in an app's file is corrected.
    case mends(AppID)
    /// The condition sources answer the daemon's request.
    case sourcesAnswer
    case daemonStarts
    case boots
    /// A random event of attached processes.
    case more
    /// A random event of transfers.
    case moves
    /// A random event of pushes.
    case pushes
    /// Apps make syncs by themselves.
    case syncs
    /// A file changes in the watched folders of apps.
    case writes
    /// The disk of apps comes or goes, condition commands change their answers, or a command answers.
    case own
    case answers(RunID)
    /// A process of the app attaches, or ends again.
    case attaches(AppID)
    case detaches(AppID)
    /// The user returns, or leaves.
    case idle(Bool)
    /// The machine sleeps for the announced time; nil if the sleep is cancelled.
    case sleeps(Duration?)
  }

  var at: Duration
  /// Decides between two at the same time: the earlier scheduled one is first.
  var number: UInt64
  var kind: Kind

  static func < (left: Happening, right: Happening) -> Bool { (left.at, left.number) < (right.at, right.number) }
}

extension World {
  mutating func happen(_ kind: Happening.Kind) {
    switch kind {
    case .chance:
      let gaps: [ClosedRange<Duration>] = [
        .zero ... .seconds(10), .zero ... .minutes(2), .zero ... .hours(2), .zero ... .hours(5),
      ]
      expect(.chance, in: chance.duration(chance.pick(gaps)))
      happenByChance()
    case .again(let event): handle(event)
    case .diskHasRoom:
      isDiskFull = false
      save()
    case .diskHangs:
      isDiskHanging = true
      expect(
        .diskAnswers,
        in: luck.duration(luck.pick([.zero ... .seconds(10), .zero ... .minutes(10), .zero ... .hours(1)])))
    case .diskAnswers:
      diskAnswers()
      expect(.diskHangs, in: luck.duration(.zero ... .hours(8)))
    case .clockIsSet(let error):
      clockError = error
      handle(.clockStepped(wallOffset: wallOffset))
    case .mends(let id): mendFile(of: id)
    case .sourcesAnswer:
      for observation in weather.observations + factsObserved { handle(.observed(observation)) }
    case .daemonStarts: startDaemon()
    case .boots: bootMachine()
    case .more: happenToAttached()
    case .moves: happenToTransfers()
    case .pushes: happenToPushes()
    case .syncs:
      expect(.syncs, in: whim.duration(whim.pick([.zero ... .minutes(10), .zero ... .hours(9)])))
      if healedAt == nil { handle(.synced(whim.pick(ids), foundNew: whim.happens(50))) }
    case .writes: happenToFolders()
    case .own: happenToOwnConditions()
    case .answers(let id): answer(id)
    case .attaches(let id): attach(id)
    case .detaches(let id): detach(id)
    case .idle(let isIdle): handle(.observed(weather.setIdle(isIdle)))
    case .sleeps(let length): fallAsleep(for: length)
    }
  }

  private mutating func happenByChance() {
    // Most faults occur in busy apps.
    let busy = chance.happens(40) && !processes.isEmpty ? chance.pick(processes).app : nil
    let id = busy ?? chance.pick(ids)
    switch chance.number(below: 130) {
    case 0..<15: look(at: id)
    case 15..<40: send(.signalled(id, chance.pick([.launched, .background, .terminated, .login, .login, .logout])))
    case 40..<50: lease(id)
    case 50..<58: send(.overridden(id, chance.happens(30) ? Overrides() : Fleet.overrides(&chance)))
    case 58..<66: send(.requested(id, chance.pick([.manual, .push, .transfer, .retry])))
    case 66..<73: reload(id)
    case 73..<77:
      clockError += chance.duration(.hours(-30) ... .hours(30))
      handle(.clockStepped(wallOffset: wallOffset))
    case 77..<82: suspend(for: chance.duration(chance.pick([.seconds(1) ... .minutes(1), .minutes(1) ... .hours(10)])))
    case 82..<86:
      doom = chance.pick([.beforeSaving, .beforePerforming, .amidEffects])
    case 86..<89: kill()
    case 89..<92:
      afterExit = chance.happens(50) ? .restart : .reboot
      let left = processes.filter { outlives && afterExit == .restart && !$0.isAttached }
      leaving = Set(left.map(\.refresh))
      handle(.stopped(leaving: leaving))
    case 92..<94: if brain != nil { cutPower() }
    case 94..<97:
      isDiskFull = true
      expect(.diskHasRoom, in: chance.duration(.zero ... .hours(1)))
    case 97..<100: handle(.wokeUp)
    default: happenToConditions(id)
    }
  }

  private mutating func happenToConditions(_ id: AppID) {
    switch chance.number(below: 30) {
    case 0..<4:
      handle(.disabled(id, true))
      expect(
        .again(.disabled(id, false)), in: chance.duration(chance.pick([.zero ... .minutes(5), .zero ... .hours(9)])))
    case 4..<7:
      let end = instant + chance.duration(.zero ... .hours(6))
      send(.paused(chance.pick([.untilResumed, .until(end), .untilAC, nil])))
      expect(.again(.paused(nil)), in: chance.duration(.zero ... .hours(6)))
    case 7..<8: handle(.skipped(id))
    case 8..<9: handle(.forgotten(id))
    case 9..<13:
      let earliest = instant + chance.duration(chance.pick([.zero ... .minutes(5), .zero ... .hours(9)]))
      handle(.scheduled(id, OneShot(earliest: earliest, reason: "")))
    case 13..<15:
      zone = chance.pick(Weather.zones)
      handle(.zoneChanged(zone))
    default:
      let changes = chance.happens(20) ? 6 : 1
      for _ in 0..<changes { handle(.observed(weather.change(&chance))) }
    }
  }

  /// Sends an event that may come twice, or again much later.
  private mutating func send(_ event: Event) {
    handle(event)
    if chance.happens(20) { handle(event) }
    if chance.happens(10) { expect(.again(event), in: chance.duration(.zero ... .hours(1))) }
  }

  /// Makes a user use the app for a while.
  private mutating func look(at id: AppID) {
    if chance.happens(30) { return show(id) }
    send(.signalled(id, .foreground))
    expect(.again(.signalled(id, .background)), in: chance.duration(.zero ... .minutes(30)))
  }

  /// Makes the user's desktop show the app for a while, and perhaps vanish with it.
  private mutating func show(_ id: AppID) {
    if chance.happens(30) { handle(.shown(id, .running)) }
    send(.shown(id, .front))
    expect(
      .again(.shown(id, .running)), in: chance.duration(chance.pick([.zero ... .seconds(4), .zero ... .minutes(30)])))
    expect(.again(.shown(id, chance.pick([.ended, .unknown]))), in: chance.duration(.zero ... .hours(1)))
  }

  private mutating func lease(_ id: AppID) {
    lastLease += 1
    let lease = LeaseID(lastLease)
    handle(.leased(lease, id, chance.pick([.foreground, .foreground, .launched])))
    expect(.again(.leaseEnded(lease, id)), in: chance.duration(.zero ... .minutes(30)))
    if chance.happens(10) { expect(.again(.leaseEnded(lease, id)), in: chance.duration(.zero ... .hours(3))) }
  }

  private mutating func reload(_ id: AppID) {
    switch chance.number(below: 5) {
    case 0, 4: policies[id] = nil
    case 1:
      let transfers = limits.transfers
      limits = Fleet.limits(&chance)
      limits.transfers = transfers
    case 2:
      for id in ids where chance.happens(30) {
        policies[id] = vary(Fleet.policy(hasQuiet: hasQuiet, planned: planned, &chance))
      }
    default: policies[id] = vary(Fleet.policy(hasQuiet: hasQuiet, planned: planned, &chance))
    }
    handle(.configured(limits, policies))
  }

  /// Makes the machine sleep: only the boot clock runs.
  mutating func suspend(for length: Duration) {
    now += length
    for index in processes.indices { processes[index].freeze(for: length) }
    observe(.resumed)
    if chance.happens(50) { handle(.wokeUp) }
    handle(.resumed)
  }
}
