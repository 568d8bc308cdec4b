import HeapModule

/// The apps that wait for a slot, in the order of their starts.
///
/// The app with the earliest last instant comes first; the foreground has a head start, because the user looks at it. A
/// waiting app passes all later apps, so that no app starves. Each user's apps have a lane, so that a user without free
/// slots delays no other user; the heads of the lanes are compared.
///
/// An app whose entry changes leaves its old entry in the heap. An old entry differs from `entries`. It is dropped when it
/// becomes the head, or when old entries outnumber the waiting apps.
struct StartQueue {
  struct Entry: Comparable {
    var isBackground: Bool
    var latest: Instant
    var index: AppIndex
    var user: UInt32

    /// How long the background waits for the foreground at most.
    private static let headStart = Duration.minutes(10)

    private var rank: Instant { isBackground ? latest : latest - Self.headStart }

    static func < (left: Entry, right: Entry) -> Bool {
      left.rank != right.rank ? left.rank < right.rank : left.index < right.index
    }
  }

  /// The apps of one user; the first is always a waiting app.
  private struct Lane {
    var heap = Heap<Entry>()
    /// How many apps wait; the heap may hold more entries.
    var count = 0
  }

  private var entries: [AppIndex: Entry] = [:]
  private var lanes: [UInt32: Lane] = [:]
  /// The heads of all lanes, also old entries; a head is missing if its user had no slot for it.
  private var heads = Heap<Entry>()

  /// Whether no app waits.
  var isEmpty: Bool { entries.isEmpty }

  /// The next app of a user with a free slot.
  mutating func first(where hasSlot: (UInt32) -> Bool) -> AppIndex? {
    while let head = heads.min {
      if lanes[head.user]?.heap.min == head, hasSlot(head.user) { return head.index }
      heads.removeMin()
    }
    return nil
  }

  /// Sets or removes the entry of an app.
  mutating func set(_ index: AppIndex, to entry: Entry?) {
    let before = entries[index]
    guard before != entry else { return }
    entries[index] = entry
    if let before { change(before.user) { $0.count -= 1 } }
    if let entry {
      change(entry.user) { lane in
        lane.count += 1
        lane.heap.insert(entry)
      }
    }
  }

  /// Considers the apps of all users again, because a slot may be free for them.
  mutating func openAll() { heads = Heap(lanes.values.compactMap(\.heap.min)) }

  private mutating func change(_ user: UInt32, _ change: (inout Lane) -> Void) {
    // The lane leaves the dictionary while it changes, so that it changes in place.
    var lane = lanes.removeValue(forKey: user) ?? Lane()
    let head = lane.heap.min
    change(&lane)
    if lane.heap.count > 2 * lane.count + 64 {
      lane.heap = Heap(lane.heap.unordered.filter { entries[$0.index] == $0 })
    }
    while let first = lane.heap.min, entries[first.index] != first { lane.heap.removeMin() }
    guard let first = lane.heap.min else { return }
    lanes[user] = lane
    if first != head { heads.insert(first) }
    if heads.count > 2 * lanes.count + 64 { openAll() }
  }
}
