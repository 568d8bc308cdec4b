/// Picks the transfers that get the next free slots.
///
/// The highest priority first; then the app with the fewest running, so that a long queue of one app does not delay the
/// others; then in order of the request.
struct TransferPicker {
  private var lanes: [(key: TransferQueue.LaneKey, entries: ArraySlice<TransferQueue.Entry>)]
  private var slots: TransferSlots
  private var runningOfApp: [AppID: Int]

  /// A picker for the transfers that nothing holds.
  init(_ queue: TransferQueue, limits: TransferLimits, mayRun: (TransferQueue.LaneKey) -> Bool) {
    slots = TransferSlots(given: queue, limits: limits)
    runningOfApp = queue.givenOfApp
    lanes = []
    guard slots.hasAny else { return }
    for (key, entries) in queue.lanes where slots.has(key.host) && mayRun(key) { lanes.append((key, entries[...])) }
  }

  /// Removes and returns the next transfer; nil when there is none, or no slot.
  mutating func next() -> TransferID? {
    guard slots.hasAny, let lane = lanes.indices.filter({ slots.has(lanes[$0].key.host) }).min(by: isBefore),
      let first = lanes[lane].entries.popFirst(), slots.claim(with: lanes[lane].key.host)
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

/// The free slots of transfers: so many in all, so many with each server.
struct TransferSlots {
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

  /// Claims a slot; false if none is free.
  mutating func claim(with host: String) -> Bool {
    guard has(host) else { return false }
    count += 1
    ofHost[host, default: 0] += 1
    return true
  }
}
