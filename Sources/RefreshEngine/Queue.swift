import HeapModule

/// The apps that may start as soon as there is a place, in the order in which they get one (FEATURES B8).
///
/// Who has the earliest last instant comes first, and the foreground has a head start, because somebody looks at it:
/// whoever waits gets ahead of all that come later, so nobody starves, not even behind a foreground that never rests.
/// Each user's apps stand in a lane of their own, so that a user whose places are taken holds up nobody else; the heads of
/// the lanes are compared.
///
/// An app that changes its mind leaves its old entries behind; such an entry no longer agrees with `entries` and is
/// dropped when it comes up, or when the old entries outnumber those that wait.
struct Queue {
  struct Entry: Comparable {
    var isBackground: Bool
    var latest: Instant
    var place: Place
    var user: UInt32

    /// How long the background waits for the foreground at most.
    private static let headStart = Duration.minutes(10)

    private var rank: Instant { isBackground ? latest : latest - Self.headStart }

    static func < (left: Entry, right: Entry) -> Bool {
      left.rank != right.rank ? left.rank < right.rank : left.place < right.place
    }
  }

  /// The apps of one user; the first of them is always one that waits.
  private struct Lane {
    var heap = Heap<Entry>()
    /// How many wait; the heap may hold more.
    var count = 0
  }

  private var entries: [Place: Entry] = [:]
  private var lanes: [UInt32: Lane] = [:]
  /// The heads of all lanes but those whose user had no place when it came up here, and old ones.
  private var heads = Heap<Entry>()

  /// Who is next of the users who have a place.
  mutating func first(where hasPlace: (UInt32) -> Bool) -> Place? {
    while let head = heads.min {
      if lanes[head.user]?.heap.min == head, hasPlace(head.user) { return head.place }
      heads.removeMin()
    }
    return nil
  }

  /// Puts an app in its place, or takes it out.
  mutating func set(_ place: Place, to entry: Entry?) {
    let before = entries[place]
    guard before != entry else { return }
    entries[place] = entry
    if let before { change(before.user) { $0.count -= 1 } }
    if let entry {
      change(entry.user) { lane in
        lane.count += 1
        lane.heap.insert(entry)
      }
    }
  }

  /// Has a user's apps looked at again: the user may have a place.
  mutating func open(_ user: UInt32) {
    if let head = lanes[user]?.heap.min { heads.insert(head) }
  }

  /// Has the apps of all users looked at again.
  mutating func openAll() { heads = Heap(lanes.values.compactMap(\.heap.min)) }

  private mutating func change(_ user: UInt32, _ change: (inout Lane) -> Void) {
    // Out of the dictionary while it is changed, so that it is changed in place.
    var lane = lanes.removeValue(forKey: user) ?? Lane()
    let head = lane.heap.min
    change(&lane)
    if lane.heap.count > 2 * lane.count + 64 {
      lane.heap = Heap(lane.heap.unordered.filter { entries[$0.place] == $0 })
    }
    while let first = lane.heap.min, entries[first.place] != first { lane.heap.removeMin() }
    guard let first = lane.heap.min else { return }
    lanes[user] = lane
    if first != head { heads.insert(first) }
    if heads.count > 2 * lanes.count + 64 { openAll() }
  }
}
