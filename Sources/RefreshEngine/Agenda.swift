import HeapModule

/// When which app has something to do next: an index of the apps, so that a wake need not look at all of them.
///
/// Each app has a window. The fewest wakes that serve all windows are had by waking at the earliest of their ends, and
/// serving then every window that has begun (interval stabbing); ``wake(beside:)`` says so.
///
/// An app that changes its mind leaves its old entries behind; such an entry no longer agrees with `windows` and is
/// dropped when it comes up, or when the old entries outnumber the apps.
struct Agenda {
  private struct Entry: Comparable {
    var at: Instant
    var app: AppID

    static func < (left: Entry, right: Entry) -> Bool {
      (left.at, left.app) < (right.at, right.app)
    }
  }

  /// The length of a shelf: one part of a window, so that a look for its company is a look at a few shelves.
  private static let shelfLength: Int64 = 60_000_000

  private var byBegin = Heap<Entry>()
  private var byEnd = Heap<Entry>()
  private var windows: [AppID: Window] = [:]
  /// The apps by the minute in which their windows begin.
  private var shelves: [Int64: [AppID]] = [:]

  /// When to wake: not before the last window has begun that the wake can serve, and not after the first has ended.
  ///
  /// - Parameter own: a window that is no app's, if there is one.
  func wake(beside own: Window?) -> Window? {
    let firsts = [byEnd.min.flatMap { windows[$0.app] }, own].compactMap(\.self)
    guard let end = firsts.map(\.latest).min() else { return nil }
    var begin = firsts.map(\.earliest).filter { $0 <= end }.max() ?? end
    let least = Self.shelf(of: begin)
    var shelf = Self.shelf(of: end)
    while shelf >= least {
      let begins = (shelves[shelf] ?? []).compactMap { windows[$0]?.earliest }.filter { $0 <= end }
      if let last = begins.max() {
        begin = max(begin, last)
        break
      }
      shelf -= 1
    }
    return Window(earliest: begin, latest: end)
  }

  /// Puts the app down for a window, in place of the one before; nil when it has nothing to do by time.
  mutating func set(_ app: AppID, to window: Window?) {
    let before = windows[app]
    guard before != window else { return }
    if let before { unshelve(app, before) }
    windows[app] = window
    if let window {
      byBegin.insert(Entry(at: window.earliest, app: app))
      byEnd.insert(Entry(at: window.latest, app: app))
      shelves[Self.shelf(of: window.earliest), default: []].append(app)
    }
    dropStale()
  }

  /// Takes out and returns the apps whose window has begun, in order of its begin and of id.
  mutating func takeDue(at now: Instant) -> [AppID] {
    var due: [AppID] = []
    while let entry = byBegin.min, entry.at <= now {
      byBegin.removeMin()
      guard let window = windows[entry.app], window.earliest == entry.at else { continue }
      unshelve(entry.app, window)
      windows[entry.app] = nil
      due.append(entry.app)
    }
    dropStale()
    return due
  }

  private mutating func unshelve(_ app: AppID, _ window: Window) {
    let shelf = Self.shelf(of: window.earliest)
    // Out of the dictionary while it is changed, so that it is changed in place.
    guard var apps = shelves.removeValue(forKey: shelf) else { return }
    if let place = apps.firstIndex(of: app) {
      apps.swapAt(place, apps.count - 1)
      apps.removeLast()
    }
    if !apps.isEmpty { shelves[shelf] = apps }
  }

  private mutating func dropStale() {
    if byBegin.count > 2 * windows.count + 64 {
      byBegin = Heap(windows.map { Entry(at: $0.value.earliest, app: $0.key) })
    }
    if byEnd.count > 2 * windows.count + 64 {
      byEnd = Heap(windows.map { Entry(at: $0.value.latest, app: $0.key) })
    }
    while let entry = byBegin.min, windows[entry.app]?.earliest != entry.at { byBegin.removeMin() }
    while let entry = byEnd.min, windows[entry.app]?.latest != entry.at { byEnd.removeMin() }
  }

  private static func shelf(of instant: Instant) -> Int64 {
    instant.microseconds / shelfLength - (instant.microseconds < 0 ? 1 : 0)
  }
}
