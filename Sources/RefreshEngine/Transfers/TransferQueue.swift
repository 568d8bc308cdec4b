/// The transfers, and what is counted of them so that no event need look at all.
struct TransferQueue: Sendable {
  /// What is counted of a session.
  struct Count: Hashable, Sendable {
    /// Those that have not ended.
    var open = 0
    /// Those that have ended, and for which the app has not been woken.
    var undelivered = 0
  }

  /// One that waits, in the order in which they get a place.
  private struct Entry: Hashable, Comparable {
    let priority: Int32
    let id: TransferID

    static func < (left: Entry, right: Entry) -> Bool {
      left.priority != right.priority ? left.priority > right.priority : left.id < right.id
    }
  }

  /// When one that waits may be tried, boot clock.
  private struct Try: Hashable, Comparable {
    let at: Instant
    let id: TransferID

    static func < (left: Try, right: Try) -> Bool { (left.at, left.id) < (right.at, right.id) }
  }

  private(set) var states: [TransferID: TransferState] = [:]
  private(set) var sessions: [TransferSession: Count] = [:]
  /// Those that a worker has, in order of id.
  private(set) var given: [TransferID] = []
  private(set) var givenOfHost: [String: Int] = [:]
  /// How many wait for each server, where any do.
  private(set) var waitingOfHost: [String: Int] = [:]
  /// How many of each app have not ended, where any have not.
  private(set) var openOfApp: [AppID: Int] = [:]
  private var line: [Entry] = []
  /// Those that wait, by when they may be tried.
  private var tries: [Try] = []
  /// The first instant at which one that has not ended is to be given up; too early where one has ended since.
  var giveUpAt: Instant?
  /// When to look at them again by time, boot clock.
  var wakeAt: Instant?
  /// Whether they must be looked at before the event is over.
  var isTouched = false

  /// Those that wait, in the order in which they get a place.
  var waiting: some Sequence<TransferID> { line.lazy.map(\.id) }

  /// Whether any waits.
  var hasWaiting: Bool { !line.isEmpty }

  /// Which there are, in order of id.
  var ids: [TransferID] { states.keys.sorted() }

  subscript(id: TransferID) -> TransferState? {
    get { states[id] }
    set {
      count(states[id], of: id, by: -1)
      states[id] = newValue
      count(newValue, of: id, by: 1)
      isTouched = true
    }
  }

  /// Takes note of when one is to be given up, boot clock.
  mutating func noteGiveUp(at instant: Instant) { giveUpAt = min(giveUpAt ?? instant, instant) }

  private mutating func count(_ state: TransferState?, of id: TransferID, by one: Int) {
    guard let state else { return }
    let session = state.policy.session
    if case .ended = state.stage {
      if !state.isDelivered { sessions[session, default: Count()].undelivered += one }
    } else {
      sessions[session, default: Count()].open += one
      openOfApp[state.policy.app, default: 0] += one
      if openOfApp[state.policy.app] == 0 { openOfApp[state.policy.app] = nil }
    }
    if sessions[session] == Count() { sessions[session] = nil }
    if state.isGiven {
      givenOfHost[state.policy.host, default: 0] += one
      if givenOfHost[state.policy.host] == 0 { givenOfHost[state.policy.host] = nil }
      Self.move(id, in: &given, by: one)
    }
    if case .waiting(let from) = state.stage {
      Self.move(Entry(priority: state.policy.priority, id: id), in: &line, by: one)
      Self.move(Try(at: from, id: id), in: &tries, by: one)
      waitingOfHost[state.policy.host, default: 0] += one
      if waitingOfHost[state.policy.host] == 0 { waitingOfHost[state.policy.host] = nil }
    }
  }

  /// When the first of those that wait for their time may be tried; nil when none does.
  func nextTry(after now: Instant) -> Instant? {
    let first = Self.place(of: Try(at: now, id: TransferID(.max)), in: tries)
    return first < tries.count ? tries[first].at : nil
  }

  private static func move<Element: Comparable>(_ element: Element, in list: inout [Element], by one: Int) {
    let place = place(of: element, in: list)
    if one > 0 { list.insert(element, at: place) } else { list.remove(at: place) }
  }

  /// Where an element is or belongs in a list that is in order.
  private static func place<Element: Comparable>(of element: Element, in list: [Element]) -> Int {
    var range = list.indices
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      range = list[middle] < element ? middle + 1..<range.upperBound : range.lowerBound..<middle
    }
    return range.lowerBound
  }
}
