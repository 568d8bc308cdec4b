import HeapModule

/// When each app is judged again, which apps are queued for a slot, and which apps follow the conditions.
struct Schedule: Sendable {
  private var agenda = Agenda()
  private var startQueue = StartQueue()
  private var following = AppFlags()

  /// The apps to judge again when a condition or a pause changes: held apps, guards, and apps with pushes below `high`.
  var followers: some Sequence<AppIndex> { following.all }

  /// Files an app by its new verdict: the window in which it has work, and whether it follows the conditions.
  mutating func file(_ index: AppIndex, _ window: Window?, followsConditions: Bool) {
    following[index] = followsConditions
    agenda.set(index, to: window)
  }

  /// Removes and returns the apps whose window has begun, in order of its begin and of id.
  mutating func removeDue(at now: Instant) -> [AppIndex] { agenda.removeDue(at: now) }

  /// The next wake; `own` is one more window, which belongs to no app.
  func wake(beside own: Window?) -> Window? { agenda.wake(beside: own) }

  /// Queues an app for a slot; nil takes it out of the queue.
  mutating func queue(_ index: AppIndex, _ entry: StartQueue.Entry?) { startQueue.set(index, to: entry) }

  /// Takes the next app out of the queue whose user has a free slot.
  mutating func takeNext(where hasSlot: (UInt32) -> Bool) -> AppIndex? {
    guard !startQueue.isEmpty, let index = startQueue.first(where: hasSlot) else { return nil }
    startQueue.set(index, to: nil)
    return index
  }

  /// Considers the queued apps of all users again, because a slot may be free for them.
  mutating func considerAll() { startQueue.openAll() }

  /// Takes an app out of the agenda and the queue.
  mutating func leaveOut(_ index: AppIndex) {
    agenda.set(index, to: nil)
    startQueue.set(index, to: nil)
  }
}

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

/// The apps that are queued for a slot, in the order of their starts.
///
/// The app whose window ends first comes first; the foreground has a head start, because the user looks at it. The window of
/// a queued app does not move, so that no app starves. Each user's apps have a lane, so that a user without free slots
/// delays no other user; the heads of the lanes are compared.
///
/// An app whose entry changes leaves its old entry in the heap. An old entry differs from `entries`. It is dropped when it
/// becomes the head, or when old entries outnumber the queued apps.
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

  /// The apps of one user; the first is always a queued app.
  private struct Lane {
    var heap = Heap<Entry>()
    /// How many apps are queued; the heap may hold more entries.
    var count = 0
  }

  private var entries: [AppIndex: Entry] = [:]
  private var lanes: [UInt32: Lane] = [:]
  /// The heads of all lanes, also old entries; a head is missing if its user had no slot for it.
  private var heads = Heap<Entry>()

  /// Whether no app is queued.
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

/// Apps in order of an instant each, in chunks of bounded length.
///
/// Inserting or removing an app, or finding the last before an instant, touches one chunk only.
struct ChunkedArray {
  struct Entry: Comparable {
    var at: Instant
    var index: AppIndex

    static func < (left: Entry, right: Entry) -> Bool {
      left.at != right.at ? left.at < right.at : left.index < right.index
    }
  }

  /// A chunk of this length is halved, so that one change moves a few kilobytes at most.
  private static let longest = 512

  /// No chunk is empty, and each ends before the next begins.
  private var chunks: [[Entry]] = []

  var first: Entry? { chunks.first?.first }

  /// The last entry at or before an instant.
  func last(notAfter instant: Instant) -> Entry? {
    let last = Entry(at: instant, index: .max)
    guard let chunk = chunk(of: last) else { return nil }
    let end = chunks[chunk].partitioningIndex { $0 > last }
    return end > 0 ? chunks[chunk][end - 1] : nil
  }

  /// Moves an app from one instant to another; nil for none.
  mutating func move(_ index: AppIndex, from before: Instant?, to instant: Instant?) {
    guard before != instant else { return }
    if let before { remove(Entry(at: before, index: index)) }
    if let instant { insert(Entry(at: instant, index: index)) }
  }

  private mutating func insert(_ entry: Entry) {
    guard let chunk = chunk(of: entry) else {
      chunks.append([entry])
      return
    }
    chunks[chunk].insert(entry, at: chunks[chunk].partitioningIndex { $0 >= entry })
    guard chunks[chunk].count == Self.longest else { return }
    let rest = Array(chunks[chunk].suffix(Self.longest / 2))
    chunks[chunk].removeLast(rest.count)
    chunks.insert(rest, at: chunk + 1)
  }

  private mutating func remove(_ entry: Entry) {
    guard let chunk = chunk(of: entry) else { return }
    let position = chunks[chunk].partitioningIndex { $0 >= entry }
    guard position < chunks[chunk].count, chunks[chunk][position] == entry else { return }
    chunks[chunk].remove(at: position)
    if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
  }

  /// The chunk that holds an entry, or would hold it; nil if there are no chunks.
  private func chunk(of entry: Entry) -> Int? {
    guard !chunks.isEmpty else { return nil }
    return max(0, chunks.partitioningIndex { chunk in chunk.first.map { $0 > entry } ?? false } - 1)
  }
}
