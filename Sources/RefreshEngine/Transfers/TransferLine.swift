/// Who gets a place next of the transfers whose time has come (FEATURES F7).
///
/// The most urgent first; of several apps the one that has the fewest running, so that a long queue of one does not keep
/// the others waiting; then in the order in which they were asked for.
struct TransferLine {
  private var lanes: [(key: TransferQueue.LaneKey, entries: ArraySlice<TransferQueue.Entry>)]
  private var places: TransferPlaces
  private var runningOfApp: [AppID: Int]

  /// The line of those that nothing holds.
  init(_ queue: TransferQueue, limits: TransferLimits, mayRun: (TransferQueue.LaneKey) -> Bool) {
    places = TransferPlaces(given: queue, limits: limits)
    runningOfApp = queue.givenOfApp
    lanes = []
    guard places.hasAny else { return }
    for (key, entries) in queue.lanes where places.has(key.host) && mayRun(key) { lanes.append((key, entries[...])) }
  }

  /// Takes the next one out of the line; nil when there is none, or no place.
  mutating func next() -> TransferID? {
    guard places.hasAny, let lane = lanes.indices.filter({ places.has(lanes[$0].key.host) }).min(by: isBefore),
      let first = lanes[lane].entries.popFirst(), places.take(with: lanes[lane].key.host)
    else { return nil }
    runningOfApp[lanes[lane].key.app, default: 0] += 1
    if lanes[lane].entries.isEmpty { lanes.remove(at: lane) }
    return first.id
  }

  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    guard let first = lanes[left].entries.first, let second = lanes[right].entries.first else { return false }
    if first.priority != second.priority { return first.priority > second.priority }
    let running = (runningOfApp[lanes[left].key.app] ?? 0, runningOfApp[lanes[right].key.app] ?? 0)
    return running.0 != running.1 ? running.0 < running.1 : first.id < second.id
  }
}

/// How many transfers may run beside those that do: so many in all, so many with each server (FEATURES F7).
struct TransferPlaces {
  private var count: Int
  private var ofHost: [String: Int]
  private let limits: TransferLimits

  init(given queue: TransferQueue, limits: TransferLimits) {
    (count, ofHost) = (queue.movingCount, queue.givenOfHost)
    self.limits = limits
  }

  /// Whether one more may run, with whatever server.
  var hasAny: Bool { count < limits.maxConcurrent }

  /// Whether one more with a server may run.
  func has(_ host: String) -> Bool { hasAny && ofHost[host, default: 0] < limits.maxPerHost }

  /// Takes a place, if there is one.
  mutating func take(with host: String) -> Bool {
    guard has(host) else { return false }
    count += 1
    ofHost[host, default: 0] += 1
    return true
  }
}
