/// The next work of each app: an index, so that a wake need not look at all apps.
///
/// Each app has a window. Waking at the earliest end of a window, and then serving every window that has begun, needs the
/// fewest wakes (interval stabbing). ``wake(beside:)`` gives that wake.
struct Agenda {
  private var begins = ChunkedArray()
  private var ends = ChunkedArray()
  private var windows = PerApp<Window>()

  /// The next wake: after the begin of every window that it can serve, and before the first end of a window.
  ///
  /// `own` is one more window, which belongs to no app. The result is nil without any window.
  func wake(beside own: Window?) -> Window? {
    guard let end = [ends.first?.at, own?.latest].compactMap(\.self).min() else { return nil }
    let begun = [begins.last(notAfter: end)?.at, own?.earliest].compactMap(\.self).filter { $0 <= end }
    return Window(earliest: begun.max() ?? end, latest: end)
  }

  /// Sets the window of an app; nil if time gives it no work.
  mutating func set(_ index: AppIndex, to window: Window?) {
    let before = windows[index]
    guard before != window else { return }
    windows[index] = window
    begins.move(index, from: before?.earliest, to: window?.earliest)
    ends.move(index, from: before?.latest, to: window?.latest)
  }

  /// Removes and returns the apps whose window has begun, in order of its begin and of id.
  mutating func removeDue(at now: Instant) -> [AppIndex] {
    var due: [AppIndex] = []
    while let entry = begins.first, entry.at <= now {
      set(entry.index, to: nil)
      due.append(entry.index)
    }
    return due
  }
}
