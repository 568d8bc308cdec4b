import HeapModule

/// When which app has something to do next: an index of the apps, so that a wake need not look at all of them.
///
/// An app that changes its mind leaves its old entry behind; such an entry no longer agrees with `instants` and is
/// dropped when it comes up, or when the old entries outnumber the apps.
struct Agenda {
  private struct Entry: Comparable {
    var at: Instant
    var app: AppID

    static func < (left: Entry, right: Entry) -> Bool {
      (left.at, left.app) < (right.at, right.app)
    }
  }

  private var heap = Heap<Entry>()
  private var instants: [AppID: Instant] = [:]

  /// The first instant at which an app has something to do.
  var first: Instant? { heap.min?.at }

  /// Puts the app down for an instant, in place of the one before; nil when it has nothing to do by time.
  mutating func set(_ app: AppID, to instant: Instant?) {
    guard instants[app] != instant else { return }
    instants[app] = instant
    if let instant { heap.insert(Entry(at: instant, app: app)) }
    if heap.count > 2 * instants.count + 64 {
      heap = Heap(instants.map { Entry(at: $0.value, app: $0.key) })
    }
    dropStale()
  }

  /// Takes out and returns the apps whose instant has come, in order of instant and id.
  mutating func takeDue(at now: Instant) -> [AppID] {
    var due: [AppID] = []
    while let entry = heap.min, entry.at <= now {
      heap.removeMin()
      guard instants[entry.app] == entry.at else { continue }
      instants[entry.app] = nil
      due.append(entry.app)
    }
    dropStale()
    return due
  }

  private mutating func dropStale() {
    while let entry = heap.min, instants[entry.app] != entry.at { heap.removeMin() }
  }
}
