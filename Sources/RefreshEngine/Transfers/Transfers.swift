/// The transfers, with counts and lists, so that no event need look at all of them.
struct Transfers: Sendable {
  /// The counts of a session.
  struct Count: Hashable, Sendable {
    /// The transfers that have not ended.
    var open = 0
    /// The ended transfers that the app has not been woken for.
    var undelivered: Set<TransferID> = []
  }

  /// The holds that transfers share: the transfers of a lane are judged once, however many servers they have.
  struct LaneKey: Hashable, Sendable {
    let app: AppID
    let network: NetworkConstraint

    init(_ policy: TransferPolicy) { (app, network) = (policy.app, policy.network) }
  }

  /// A transfer that may start, in the order of slots.
  struct Entry: Hashable, Comparable {
    let priority: Int32
    let id: TransferID

    static func < (left: Entry, right: Entry) -> Bool {
      left.priority != right.priority ? left.priority > right.priority : left.id < right.id
    }
  }

  /// A moment of a transfer, boot clock.
  private struct Milestone: Hashable, Comparable {
    let at: Instant
    let id: TransferID

    static func < (left: Milestone, right: Milestone) -> Bool { (left.at, left.id) < (right.at, right.id) }
  }

  private(set) var states: [TransferID: TransferState] = [:]
  private(set) var sessions: [TransferSession: Count] = [:]
  /// The transfers that a worker has, in order of id.
  private(set) var given: [TransferID] = []
  private(set) var givenOfHost: [String: Int] = [:]
  private(set) var givenOfApp: [AppID: Int] = [:]
  /// The transfers among them whose bytes have all arrived, so that only the rename is left.
  private(set) var fetched: Set<TransferID> = []
  /// The progress of each transfer that a worker has.
  private(set) var paces: [TransferID: TransferPace] = [:]
  /// The transfers that are stopped so that others get their slots.
  private(set) var yielding: Set<TransferID> = []
  /// How many of them are on the way to or from their servers.
  private(set) var movingCount = 0
  /// How many transfers have not ended.
  private(set) var openCount = 0
  /// The transfers whose time has come, by holds and server, in the order of slots.
  private(set) var lanes: [LaneKey: [String: [Entry]]] = [:]
  /// The instant up to which transfers are in ``lanes``; nil before the first look.
  private var ripeUntil: Instant?
  /// The transfers whose time has not come.
  private var later: [Milestone] = []
  /// The ended transfers, by their ends.
  private var ended: [Milestone] = []
  /// The first instant to give up a transfer; too early if that transfer has ended since.
  private(set) var giveUpAt: Instant?
  /// When a running transfer may have to give way, boot clock.
  private(set) var yieldAt: Instant?
  /// When time requires the next look at the transfers, boot clock.
  private(set) var wakeAt: Instant?
  /// Whether the transfers must be looked at before the event is done.
  private(set) var isTouched = false

  /// Whether the time of any waiting transfer has come.
  var hasRipe: Bool { !lanes.isEmpty }

  /// Whether any transfer waits.
  var hasWaiting: Bool { !lanes.isEmpty || !later.isEmpty }

  /// All transfers, in order of id.
  var ids: [TransferID] { states.keys.sorted() }

  /// Whether an app has a transfer that has not ended.
  func hasOpen(of app: AppID) -> Bool { states.values.contains { $0.policy.app == app && $0.endedAt == nil } }

  /// When the next waiting transfer may start, boot clock; nil if none waits for a time.
  var nextTry: Instant? { later.first?.at }

  subscript(id: TransferID) -> TransferState? {
    get { states[id] }
    set {
      count(states[id], of: id, by: -1)
      fetched.remove(id)
      if newValue?.isGiven != true { (paces[id], _) = (nil, yielding.remove(id)) }
      states[id] = newValue
      count(newValue, of: id, by: 1)
      isTouched = true
    }
  }

  /// Has the transfers looked at before the event is done.
  mutating func touch() { isTouched = true }

  /// Ends the look at the transfers; `wake` is when time requires the next.
  mutating func concludeLook(nextAt wake: Instant?) { (wakeAt, isTouched) = (wake, false) }

  /// Sets when a running transfer may have to give way, boot clock; nil for never.
  mutating func setYield(at instant: Instant?) { yieldAt = instant }

  /// Begins to look for the first transfer to give up.
  mutating func resetGiveUp() { giveUpAt = nil }

  /// Brings the next look for transfers to give up forward to an instant of the boot clock.
  mutating func considerGiveUp(at instant: Instant) { giveUpAt = min(giveUpAt ?? instant, instant) }

  /// The most transfers that may wait for their rename without a slot.
  private static let mostFetched = 64

  /// Frees the slot of a transfer whose bytes have all arrived.
  mutating func markFetched(_ id: TransferID) {
    guard let state = states[id], state.stage == .transferring, fetched.count < Self.mostFetched,
      fetched.insert(id).inserted
    else { return }
    countMoving(state.policy, by: -1)
    isTouched = true
  }

  /// Starts to follow the pace of a transfer that a worker has.
  mutating func beginPace(of id: TransferID, at now: Instant) { paces[id] = TransferPace(at: now) }

  /// Updates how many bytes of a transfer are moved.
  mutating func note(_ bytes: Int64, movedOf id: TransferID, at now: Instant) { paces[id]?.note(bytes, at: now) }

  /// Marks a transfer that is stopped so that another gets its slot.
  mutating func markYielding(_ id: TransferID) { yielding.insert(id) }

  /// Moves the transfers whose time has come into the lanes.
  mutating func ripen(at now: Instant) {
    let ripe = later.prefix { $0.at <= now }.map(\.id)
    later.removeFirst(ripe.count)
    ripeUntil = now
    for id in ripe { if let policy = states[id]?.policy { move(policy, id, inLaneBy: 1) } }
  }

  /// The transfers that ended before an instant, boot clock, the oldest first.
  func ended(before instant: Instant) -> [TransferID] { ended.prefix { $0.at < instant }.map(\.id) }

  /// The first end at or after an instant, boot clock; nil without one.
  func firstEnd(from instant: Instant) -> Instant? {
    let index = ended.partitioningIndex { $0 >= Milestone(at: instant, id: TransferID(0)) }
    return index < ended.count ? ended[index].at : nil
  }

  private mutating func count(_ state: TransferState?, of id: TransferID, by one: Int) {
    guard let state else { return }
    countSession(state, of: id, by: one)
    if state.isGiven {
      if !fetched.contains(id) { countMoving(state.policy, by: one) }
      Self.move(id, in: &given, by: one)
    }
    switch state.stage {
    case .waiting(let from) where ripeUntil.map { from <= $0 } ?? false: move(state.policy, id, inLaneBy: one)
    case .waiting(let from): Self.move(Milestone(at: from, id: id), in: &later, by: one)
    case .ended(_, let at): Self.move(Milestone(at: at, id: id), in: &ended, by: one)
    case .transferring, .stopping, .paused, .noSpace: break
    }
  }

  private mutating func countMoving(_ policy: TransferPolicy, by one: Int) {
    givenOfHost.add(one, to: policy.server)
    givenOfApp.add(one, to: policy.app)
    movingCount += one
  }

  private mutating func countSession(_ state: TransferState, of id: TransferID, by one: Int) {
    var count = sessions.removeValue(forKey: state.policy.session) ?? Count()
    if state.endedAt == nil {
      count.open += one
      openCount += one
    } else if one > 0, !state.isDelivered {
      count.undelivered.insert(id)
    } else {
      count.undelivered.remove(id)
    }
    if count != Count() { sessions[state.policy.session] = count }
  }

  private mutating func move(_ policy: TransferPolicy, _ id: TransferID, inLaneBy one: Int) {
    let (key, server) = (LaneKey(policy), policy.server)
    // Changed in place, because a lane may be long.
    Self.move(Entry(priority: policy.priority, id: id), in: &lanes[key, default: [:]][server, default: []], by: one)
    if lanes[key]?[server]?.isEmpty == true { lanes[key]?[server] = nil }
    if lanes[key]?.isEmpty == true { lanes[key] = nil }
  }

  private static func move<Element: Comparable>(_ element: Element, in list: inout [Element], by one: Int) {
    let index = list.partitioningIndex { $0 >= element }
    if one > 0 { list.insert(element, at: index) } else { list.remove(at: index) }
  }
}

extension Dictionary where Value == Int {
  fileprivate mutating func add(_ one: Int, to key: Key) {
    let sum = self[key, default: 0] + one
    self[key] = sum == 0 ? nil : sum
  }
}

// The changes of transfers, and the choice of running transfers.

extension Engine {
  /// Adds transfers to the queue; known transfers stay as they are.
  mutating func enqueue(_ enqueued: [Enqueued], _ turn: inout Turn) {
    for transfer in enqueued where transfers[transfer.id] == nil {
      set(TransferState(policy: transfer.policy), of: transfer.id, &turn)
      transfers.considerGiveUp(at: transfer.policy.enqueuedAt + judge.limits.transfers.giveUp)
      noteOpen(transfer.policy.session, &turn)
    }
  }

  /// Pauses a transfer, or resumes it.
  mutating func pause(_ id: TransferID, _ isPaused: Bool, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    switch (state.stage, isPaused) {
    case (.waiting, true), (.noSpace, true): state.stage = .paused
    case (.transferring, true): return stopTransfer(id, .paused, &turn)
    // A transfer that is being discarded goes on to be discarded.
    case (.stopping(let reason), true) where !reason.discards: state.stage = .stopping(.paused)
    case (.stopping(.paused), false): state.stage = .stopping(.user)
    case (.paused, false):
      state.stage = .waiting(from: turn.now)
      state.failures = 0
    // A user who resumes a transfer does not want to wait for the next try.
    case (.waiting(let from), false) where from > turn.now: state.stage = .waiting(from: turn.now)
    default: return
    }
    set(state, of: id, &turn)
  }

  /// Cancels a transfer: nothing of it is kept.
  ///
  /// It ends after the driver has stopped it, even if nothing of it exists: until the cancellation is stored, it can be
  /// taken back.
  mutating func cancel(_ id: TransferID, _ turn: inout Turn) {
    guard let state = transfers[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    stopTransfer(id, .cancelled, &turn)
  }

  mutating func prioritize(_ id: TransferID, _ priority: Int32, _ turn: inout Turn) {
    guard var state = transfers[id], state.policy.priority != priority else { return }
    state.policy.priority = priority
    set(state, of: id, &turn)
  }

  /// Retries a transfer when space is found: first at once, later after a doubling wait.
  mutating func findRoom(_ id: TransferID, _ turn: inout Turn) {
    guard var state = transfers[id], case .noSpace = state.stage else { return }
    state.stage = .waiting(from: turn.now + wait(of: id, state.policy.app, after: state.failures - 1))
    set(state, of: id, &turn)
  }

  /// Applies the report of a worker about a transfer.
  mutating func report(_ id: TransferID, _ report: TransferReport, _ turn: inout Turn) {
    guard var state = transfers[id], state.isGiven else { return }
    switch (report, state.stage) {
    case (.done, _): return end(id, .done, &turn)
    case (.failed, .stopping(let reason)) where reason.discards: return end(id, reason.result, &turn)
    case (.failed, _): return end(id, .failed, &turn)
    case (.lost, .stopping(let reason)) where reason.discards && state.failures < Self.mostDiscards:
      // A part of it may remain.
      state.failures += 1
      turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
    case (_, .stopping(let reason)) where reason.discards: return end(id, reason.result, &turn)
    case (.retry(let after, let hasProgressed), let stage):
      retry(&state, id, after: after, hasProgressed: hasProgressed, at: turn.now)
      if stage == .stopping(.paused) { state.stage = .paused }
    case (.wrong, let stage):
      state.wrongs += 1
      guard state.wrongs < Self.mostWrongs else { return end(id, .failed, &turn) }
      state.failures = BackOff.transfers.counting(state.failures)
      state.stage =
        stage == .stopping(.paused)
        ? .paused : .waiting(from: turn.now + BackOff.wrongContent.wait(after: state.wrongs))
    case (_, .stopping(.paused)): state.stage = .paused
    case (_, .stopping), (.stopped, _): state.stage = .waiting(from: turn.now)
    case (.noSpace(let needed), _):
      state.failures = BackOff.transfers.counting(state.failures)
      state.stage = .noSpace(needed: needed)
    case (.lost(let hasProgressed), _): retry(&state, id, after: nil, hasProgressed: hasProgressed, at: turn.now)
    }
    if transfers.yielding.contains(id), case .waiting(let from) = state.stage {
      state.stage = .waiting(from: max(from, turn.now + TransferPace.rest))
    }
    set(state, of: id, &turn)
  }

  /// How often the content of a transfer may be wrong; the last try is half an hour after the first.
  private static let mostWrongs: Int32 = 6
  /// The longest wait that a server may ask for.
  private static let longestWait = Duration.hours(24)
  /// How often workers may fail to remove the partial file of a transfer.
  private static let mostDiscards: Int32 = 3

  /// Schedules the next attempt: at once after progress, else after the back-off.
  private func retry(
    _ state: inout TransferState, _ id: TransferID, after: Duration?, hasProgressed: Bool, at now: Instant
  ) {
    state.failures = hasProgressed ? 0 : BackOff.transfers.counting(state.failures)
    let wait = wait(of: id, state.policy.app, after: state.failures)
    state.stage = .waiting(from: now + max(wait, min(after ?? .zero, Self.longestWait)))
  }

  /// How long a transfer waits after some failures in a row.
  private func wait(of id: TransferID, _ app: AppID, after failures: Int32) -> Duration {
    guard failures > 0 else { return .zero }
    return BackOff.transfers.wait(after: failures) { judge.spread.offset(of: app, within: $0 / 5, turn: id.number) }
  }

  /// Ends a transfer and keeps nothing of it: at once if nothing of it can exist, else after a worker has removed it.
  private mutating func discard(_ id: TransferID, _ reason: TransferStop, _ turn: inout Turn) {
    guard let state = transfers[id], state.endedAt == nil else { return }
    if case .stopping(let before) = state.stage, before.discards { return }
    let mayBeThere = state.hasBegun && policy(of: state.policy.app) != nil
    if state.isGiven || mayBeThere { stopTransfer(id, reason, &turn) } else { end(id, reason.result, &turn) }
  }

  mutating func stopTransfer(_ id: TransferID, _ reason: TransferStop, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    state.stage = .stopping(reason)
    if reason.discards { state.failures = 0 }
    set(state, of: id, &turn)
    turn.decision.effects.append(.stopTransfer(id, state.policy.app, reason))
  }

  mutating func end(_ id: TransferID, _ result: TransferResult, _ turn: inout Turn) {
    guard var state = transfers[id] else { return }
    state.stage = .ended(result, at: turn.now)
    // From now on `failures` counts wakes.
    state.failures = 0
    set(state, of: id, &turn)
    noteDrained(state.policy.session, &turn)
  }

  /// Sets a transfer's state, and has it saved.
  mutating func set(_ state: TransferState, of id: TransferID, _ turn: inout Turn) {
    transfers[id] = state
    turn.decision.changes.transfers.insert(id)
  }

  /// Gives up transfers whose time is up; a transfer that the user paused waits for the user.
  mutating func giveUpTransfers(_ turn: inout Turn) {
    guard let at = transfers.giveUpAt, at <= turn.now else { return }
    transfers.resetGiveUp()
    for id in transfers.ids {
      guard let state = transfers[id], state.endedAt == nil, state.stage != .paused else { continue }
      let end = state.policy.enqueuedAt + judge.limits.transfers.giveUp
      if end <= turn.now { discard(id, .expired, &turn) } else { transfers.considerGiveUp(at: end) }
    }
  }

  /// Stops transfers that may no longer run, starts transfers while there are slots, and computes the next wake.
  mutating func runTransfers(_ turn: inout Turn) {
    // Before the first configuration no app is known.
    guard judge.life.isConfigured, transfers.isTouched || transferWake.map({ $0 <= turn.now }) == true else { return }
    giveUpTransfers(&turn)
    for id in transfers.given {
      guard let state = transfers[id], state.stage == .transferring else { continue }
      if let reason = reasonToStop(state) { stopTransfer(id, reason, &turn) }
    }
    transfers.ripen(at: turn.now)
    startTransfers(at: turn.now, &turn)
    giveWay(&turn)
    forgetOldTransfers(&turn)
    var wakes = [transfers.giveUpAt, transfers.nextTry, transfers.yieldAt, nextForgetting(after: turn.now)]
    if transfers.hasWaiting {
      wakes.append(judge.settlingUntil.flatMap { $0 > turn.now ? $0 : nil })
      if case .until(let end) = judge.pause { wakes.append(end) }
    }
    transfers.concludeLook(nextAt: wakes.compactMap(\.self).min())
  }

  private func nextTransfers(at now: Instant) -> [TransferID] {
    var line = TransferPicker(transfers, limits: judge.limits.transfers, owner: owner) { key in
      lastingHolds(on: key.app, network: key.network, at: now).isEmpty
    }
    var next: [TransferID] = []
    while let id = line.next() { next.append(id) }
    return next
  }

  /// Gives transfers that may run to workers until no slot is free.
  private mutating func startTransfers(at now: Instant, _ turn: inout Turn) {
    for id in nextTransfers(at: now) {
      guard var state = transfers[id] else { continue }
      state.stage = .transferring
      state.hasBegun = true
      set(state, of: id, &turn)
      transfers.beginPace(of: id, at: turn.now)
      turn.decision.effects.append(.transfer(id, state.policy.app))
    }
  }
}

// The holds of transfers.

extension Engine {
  /// The judgement about a transfer at an instant, boot clock; nil for an unknown transfer.
  public func transferVerdict(on id: TransferID, at now: Instant) -> TransferVerdict? {
    guard let state = transfers[id] else { return nil }
    switch state.stage {
    case .transferring: return .transferring
    case .stopping(let reason): return .stopping(reason)
    case .paused: return .paused
    case .noSpace(let needed): return .noSpace(needed: needed)
    case .ended(let result, _): return .ended(result)
    case .waiting(let from):
      let holds = lastingHolds(on: state.policy.app, network: state.policy.network, at: now)
      if !holds.isEmpty { return .held(holds) }
      if from > now { return .notDue(until: from) }
      let (slots, user) = (TransferSlots(given: transfers, limits: judge.limits.transfers), owner(of: state.policy.app))
      let isFirst = !transfers.givenOfApp.keys.contains { owner(of: $0) == user }
      return slots.has(state.policy.server, isFirst: isFirst) ? .ready : .held([.concurrency])
    }
  }

  /// The holds on an app's transfers with this network constraint, due or not, apart from slots.
  func lastingHolds(on id: AppID, network: NetworkConstraint, at now: Instant) -> [Hold] {
    apps.index(of: id).map { judge.holds(onTransfersOf: apps[$0], network: network, at: now) } ?? [.notConfigured]
  }

  /// Why a running transfer must stop; nil if it may go on.
  func reasonToStop(_ state: TransferState) -> TransferStop? {
    judge.reasonToStop(state, of: apps.index(of: state.policy.app).map { apps[$0] })
  }
}

extension Judge {
  /// The holds on an app's transfers with this network constraint, due or not, apart from slots.
  func holds(onTransfersOf app: App, network: NetworkConstraint, at now: Instant) -> [Hold] {
    var holds = lastingHolds(on: app)
    if let pause { holds.append(.paused(pause)) }
    if let end = settlingUntil, end > now { holds.append(.settling(until: end)) }
    if !isMet(network) { holds.append(.constraint(.network, relaxedAt: nil)) }
    for fact in Constraint.facts where !isMet(fact, by: app, at: now) {
      holds.append(.constraint(fact, relaxedAt: nil))
    }
    return holds
  }

  /// Why a running transfer must stop; nil if it may go on.
  ///
  /// An unknown condition does not stop it.
  func reasonToStop(_ state: TransferState, of app: App?) -> TransferStop? {
    if life.isStopping { return .shutdown }
    if life.isSuspending { return .sleep }
    guard let app, let policy = app.policy, !app.switches.isDisabled, pause == nil else { return .user }
    if app.visits.isLoggedOut { return .loggedOut }
    let constraints = policy.constraints
    let isLost = Constraint.facts.contains { conditions.fact($0, of: constraints).value?.isMet == false }
    if isLost { return .network }
    return conditions.network.isUnanswered || isMet(state.policy.network) ? nil : .network
  }

  private func isMet(_ network: NetworkConstraint) -> Bool {
    guard network != .none else { return true }
    var constraints = Constraints()
    constraints.network = network
    return isNetworkMet(constraints)
  }
}

extension Hold {
  /// When time alone lifts the hold, boot clock; nil if it never does.
  var liftedAt: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .unsteady(let until), .wakeLimit(let until),
      .paused(.until(let until)):
      until
    case .constraint(_, let relaxedAt): relaxedAt
    case .noPerformer(let until): until
    default: nil
    }
  }
}
