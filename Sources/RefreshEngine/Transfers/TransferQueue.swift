/// The transfers, with counts and lists, so that no event need look at all of them.
struct TransferQueue: Sendable {
  /// The counts of a session.
  struct Count: Hashable, Sendable {
    /// The transfers that have not ended.
    var open = 0
    /// The ended transfers that are not delivered to the app.
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
  /// The transfers that were stopped so that others get their slots.
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
  /// Whether the transfers must be judged before the event is done.
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

  /// The state of a transfer; nil for an unknown transfer.
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

  /// Has the transfers judged before the event is done.
  mutating func touch() { isTouched = true }

  /// Records that the transfers were judged.
  mutating func endLook() { isTouched = false }

  /// Begins to follow the pace of a transfer that a worker has.
  mutating func beginPace(of id: TransferID, at now: Instant) { paces[id] = TransferPace(at: now) }

  /// Marks a transfer that is stopped so that another gets its slot.
  mutating func markYielding(_ id: TransferID) { yielding.insert(id) }

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

  /// Updates how many bytes of a transfer are moved.
  mutating func count(_ bytes: Int64, movedOf id: TransferID, at now: Instant) { paces[id]?.update(bytes, at: now) }

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
