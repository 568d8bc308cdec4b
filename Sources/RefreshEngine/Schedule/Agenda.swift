/// When which app has something to do next: an index of the apps, so that a wake need not look at all of them.
///
/// Each app has a window. The fewest wakes that serve all windows are had by waking at the earliest of their ends, and
/// serving then every window that has begun (interval stabbing); ``wake(beside:)`` says so.
struct Agenda {
  private var begins = ChunkedArray()
  private var ends = ChunkedArray()
  private var windows = PerApp<Window>()

  /// When to wake: not before the last window has begun that the wake can serve, and not after the first has ended.
  ///
  /// - Parameter own: a window that is no app's, if there is one.
  func wake(beside own: Window?) -> Window? {
    guard let end = [ends.first?.at, own?.latest].compactMap(\.self).min() else { return nil }
    let begun = [begins.last(notAfter: end)?.at, own?.earliest].compactMap(\.self).filter { $0 <= end }
    return Window(earliest: begun.max() ?? end, latest: end)
  }

  /// Sets the window of an app; nil when it has nothing to do by time.
  mutating func set(_ index: AppIndex, to window: Window?) {
    let before = windows[index]
    guard before != window else { return }
    windows[index] = window
    begins.move(index, from: before?.earliest, to: window?.earliest)
    ends.move(index, from: before?.latest, to: window?.latest)
  }

  /// Takes out and returns the apps whose window has begun, in order of its begin and of id.
  mutating func removeDue(at now: Instant) -> [AppIndex] {
    var due: [AppIndex] = []
    while let entry = begins.first, entry.at <= now {
      set(entry.index, to: nil)
      due.append(entry.index)
    }
    return due
  }
}
