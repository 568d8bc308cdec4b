import HeapModule

/// When which app has something to do next: an index of the apps, so that a wake need not look at all of them.
///
/// Each app has a window. The fewest wakes that serve all windows are had by waking at the earliest of their ends, and
/// serving then every window that has begun (interval stabbing); ``wake`` says so.
///
/// An app that changes its mind leaves its old end behind; such an entry no longer agrees with `windows` and is dropped
/// when it comes up, or when the old entries outnumber the apps.
struct Agenda {
  private var begins = Shelves()
  private var ends = Heap<Shelves.Entry>()
  private var windows = ByPlace<Window>()

  /// When to wake: not before the last window has begun that the wake can serve, and not after the first has ended.
  var wake: Window? {
    guard let end = ends.min?.at else { return nil }
    return Window(earliest: begins.last(notAfter: end)?.at ?? end, latest: end)
  }

  /// Puts the app down for a window, in place of the one before; nil when it has nothing to do by time.
  mutating func set(_ place: Place, to window: Window?) {
    let before = windows[place]
    guard before != window else { return }
    if let before { begins.remove(Shelves.Entry(at: before.earliest, place: place)) }
    windows[place] = window
    if let window {
      begins.insert(Shelves.Entry(at: window.earliest, place: place))
      ends.insert(Shelves.Entry(at: window.latest, place: place))
    }
    dropStale()
  }

  /// Takes out and returns the apps whose window has begun, in order of its begin and of id.
  mutating func takeDue(at now: Instant) -> [Place] {
    var due: [Place] = []
    while let entry = begins.first, entry.at <= now {
      begins.remove(entry)
      windows[entry.place] = nil
      due.append(entry.place)
    }
    dropStale()
    return due
  }

  private mutating func dropStale() {
    if ends.count > 2 * windows.count + 64 {
      ends = Heap(windows.all.map { Shelves.Entry(at: $0.value.latest, place: $0.place) })
    }
    while let entry = ends.min, windows[entry.place]?.latest != entry.at { ends.removeMin() }
  }
}
