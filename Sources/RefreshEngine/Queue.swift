import HeapModule

/// The apps that may start as soon as there is a place, in the order in which they get one (FEATURES B8).
///
/// The foreground comes first, because somebody looks at it, then who has the earliest last instant: whoever waits gets
/// ahead of all that come later, so nobody starves. Old entries are dropped as in ``Agenda``.
struct Queue {
  struct Entry: Comparable {
    var isBackground: Bool
    var latest: Instant
    var place: Place

    static func < (left: Entry, right: Entry) -> Bool {
      if left.isBackground != right.isBackground { return right.isBackground }
      return left.latest != right.latest ? left.latest < right.latest : left.place < right.place
    }
  }

  private var heap = Heap<Entry>()
  private var entries: [Place: Entry] = [:]

  /// Who is next.
  var first: Place? { heap.min?.place }

  /// Puts an app in its place, or takes it out.
  mutating func set(_ place: Place, to entry: Entry?) {
    guard entries[place] != entry else { return }
    entries[place] = entry
    if let entry { heap.insert(entry) }
    if heap.count > 2 * entries.count + 64 { heap = Heap(entries.values) }
    while let first = heap.min, entries[first.place] != first { heap.removeMin() }
  }
}
