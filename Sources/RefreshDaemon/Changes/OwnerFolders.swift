import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// The watched folders of one user's apps.
///
/// A thread walks through each folder, and watches the directories there and on the way. A change of the tree, such as a
/// new folder, causes another walk, at growing distances while such changes go on.
final class OwnerFolders {
  /// The most directories to watch for one user; by default the kernel allows at least 8,192 for all users of one daemon.
  static let most = 4096
  /// How long events are gathered between two reads, in microseconds.
  private static let pause: Int64 = 1_000_000
  /// The least time between an event and a new walk, in microseconds.
  private static let walkPause: Int64 = 1_000_000
  /// How many times its own duration a walk rests, and the longest rest in microseconds.
  private static let rest: (times: Int64, longest: Int64) = (20, 300_000_000)
  /// The back-off for a folder that cannot be watched: 1 min, doubled up to 1 h.
  static let retries = BackOff(first: .minutes(1), longest: .hours(1), mostFailures: 7)
  /// The most unknown watches with events to remember during a walk.
  private static let mostEarly = 2 * most

  /// A folder and its state.
  private struct Root {
    let folder: WatchedFolder
    var state = WatchedState()
    /// The device and inode number of the watched directory; nil while none is watched.
    var identity: [UInt64]?
    /// The next walk, boot clock, in microseconds; nil while none is needed.
    var walkAt: Int64? = 0
    /// The earliest next walk, boot clock, in microseconds.
    var restsUntil: Int64 = 0
    var failures: Int32 = 0
    /// Whether a mount has changed there since the last walk, so that new contents are no change by themselves.
    var isMounted = true
    /// Whether a bound ended the last walk, so that a later walk may get further.
    var isCut = false
    /// Whether a symbolic link is on the way, so that mounts elsewhere matter too.
    var hasLooseStep = false
  }

  /// A walk without an answer yet.
  private struct WalkUnderWay {
    let root: Int
    let isGivenUp: FolderWalk.GivenUp
    let beganAt: Int64
  }

  private unowned let owner: any FolderWatchOwner
  private let looks: OwnersLooks<FolderLook>
  private let stateDirectory: String
  private let queue: InotifyQueue
  private var source: IOSource?
  private var readTimer: TimerSource?
  private var walkTimer: TimerSource?
  private var roots: [Int: Root] = [:]
  private var numbers: [WatchedFolder: Int] = [:]
  private var lastRoot = 0
  private var table = WatchTable()
  private var walk: WalkUnderWay?
  /// Unknown watches with events during a walk, which may have made them, and the time of each last event in microseconds
  /// of the wall clock.
  private var early: [Int32: Int64] = [:]
  /// Unneeded watches, to be removed after a walk that may need them.
  private var unused: [Int32] = []

  init(
    on loop: EventLoop, _ looks: OwnersLooks<FolderLook>, stateDirectory: String, for owner: any FolderWatchOwner
  ) throws {
    (self.looks, self.stateDirectory, self.owner) = (looks, stateDirectory, owner)
    queue = try InotifyQueue()
    source = try loop.watch(queue.descriptor, for: .readable) { [unowned self] _ in readAndPause() }
    readTimer = try loop.timer { [unowned self] in source?.events = .readable }
    walkTimer = try loop.timer { [unowned self] in walkNext() }
  }

  deinit {
    walk?.isGivenUp.set()
    source?.cancel()
    readTimer?.cancel()
    walkTimer?.cancel()
  }

  /// Watches these folders, and no others.
  func watch(_ folders: [WatchedFolder]) {
    let wanted = Set(folders)
    let before = roots.count
    for (id, root) in roots where !wanted.contains(root.folder) {
      release(table.set(id, []))
      roots[id] = nil
      numbers[root.folder] = nil
    }
    // There may be room now for the rest of the other folders.
    if roots.count < before { for (id, root) in roots where root.isCut { wantWalk(id) } }
    for folder in folders where numbers[folder] == nil {
      lastRoot += 1
      roots[lastRoot] = Root(folder: folder)
      numbers[folder] = lastRoot
    }
    walkNext()
  }

  func state(of folder: WatchedFolder) -> WatchedState? { numbers[folder].flatMap { roots[$0]?.state } }

  /// Walks again through the folders that lie on or below changed mount points.
  func mountsChanged(at points: Set<String>) {
    for (id, root) in roots {
      let path = root.folder.path
      guard root.hasLooseStep || points.contains(where: { path == $0 || path.hasPrefix($0 == "/" ? $0 : "\($0)/") })
      else { continue }
      roots[id]?.isMounted = true
      roots[id]?.failures = 0
      wantWalk(id)
    }
    walkNext()
  }

  /// Reports the changes now, except in folders of some apps.
  func drain(passingOver apps: Set<AppID> = []) {
    var changed: Set<Int> = []
    queue.read { handle($0, &changed) }
    report(changed.filter { id in roots[id].map { !apps.contains($0.folder.app) } ?? false })
    walkNext()
  }

  private func readAndPause() {
    source?.events = []
    readTimer?.arm(at: EventLoop.bootMicroseconds() + Self.pause, accuracy: Self.pause / 4)
    drain()
  }

  private func handle(_ event: InotifyQueue.InotifyEvent, _ changed: inout Set<Int>) {
    if event.has(IN_Q_OVERFLOW) {
      changed.formUnion(roots.keys)
      for id in roots.keys { wantWalk(id) }
      return
    }
    if event.has(IN_IGNORED) {
      // The directory or its file system is gone; a folder itself is searched again.
      for id in table.forget(event.watch) { wantWalk(id) }
      return
    }
    guard let uses = table[event.watch] else {
      if walk == nil {
        queue.remove(event.watch)
      } else if early[event.watch] != nil || early.count < Self.mostEarly {
        early[event.watch] = EventLoop.wallMicroseconds()
      }
      return
    }
    for (id, purposes) in uses { for purpose in purposes { handle(event, of: id, purpose, &changed) } }
  }

  private func handle(
    _ event: InotifyQueue.InotifyEvent, of id: Int, _ purpose: WatchTable.Purpose, _ changed: inout Set<Int>
  ) {
    if event.has(IN_UNMOUNT) { roots[id]?.isMounted = true }
    switch purpose {
    case .root, .below:
      if event.has(InotifyQueue.contents) { changed.insert(id) }
      // A folder that moved away needs a walk too, which removes its watch.
      let isOfFolder = event.has(IN_ISDIR) && event.has(IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO)
      let isOfRoot = purpose == .root && event.has(InotifyQueue.itself | IN_UNMOUNT)
      if isOfFolder || isOfRoot { wantWalk(id) }
    case .step(let name):
      let leadsElsewhere = name.map { event.has(InotifyQueue.entries) && event.isAbout($0) } ?? false
      if leadsElsewhere || event.has(InotifyQueue.itself | IN_UNMOUNT) { wantWalk(id) }
    }
  }

  private func report(_ changed: Set<Int>) {
    let folders = changed.sorted().compactMap { roots[$0]?.folder }
    if !folders.isEmpty { owner.foldersChanged(folders) }
  }

  private func wantWalk(_ id: Int) {
    guard let root = roots[id] else { return }
    let at = max(EventLoop.bootMicroseconds() + Self.walkPause, root.restsUntil)
    roots[id]?.walkAt = min(root.walkAt ?? at, at)
  }

  /// Begins the walk that is due, or wakes up for the next.
  private func walkNext() {
    guard walk == nil else { return }
    var next: (at: Int64, id: Int)?
    for (id, root) in roots {
      guard let at = root.walkAt else { continue }
      if next.map({ (at, id) < ($0.at, $0.id) }) ?? true { next = (at, id) }
    }
    guard let next, let root = roots[next.id] else {
      walkTimer?.disarm()
      return
    }
    let now = EventLoop.bootMicroseconds()
    guard next.at <= now else {
      walkTimer?.arm(at: next.at, accuracy: 250_000)
      return
    }
    roots[next.id]?.walkAt = nil
    let isGivenUp = FolderWalk.GivenUp()
    walk = WalkUnderWay(root: next.id, isGivenUp: isGivenUp, beganAt: now)
    let held = table.watches(besides: next.id)
    let order = FolderWalk.WalkOrder(
      path: root.folder.path, owner: root.folder.owner, queue: queue, room: Self.most - held.count, held: held,
      known: table.tree(of: next.id), stateDirectory: stateDirectory, isGivenUp: isGivenUp)
    looks.look(
      at: root.folder.path, as: root.folder.owner, within: OwnersLooks<FolderLook>.longest,
      by: { FolderWalk.look(order, within: $0) }, receive: { [weak self] look in self?.end(look) })
  }

  private func end(_ look: FolderLook) {
    guard let ended = walk else { return }
    walk = nil
    ended.isGivenUp.set()
    let id = ended.root
    if let root = roots[id] {
      note(look, of: id, root, took: EventLoop.bootMicroseconds() - ended.beganAt)
    } else {
      // The folder is no longer wanted.
      unused += look.watches.map(\.watch)
    }
    var changed: Set<Int> = []
    for (watch, time) in early {
      for (id, purposes) in table[watch] ?? [:] where purposes.contains(where: \.isOfTree) {
        // A refresh that has ended meanwhile may have written there: its own work is no change.
        if let root = roots[id], time > owner.seenUntil(root.folder.app) { changed.insert(id) }
      }
    }
    early = [:]
    let removable = unused
    unused = []
    release(removable)
    report(changed)
    walkNext()
  }

  /// Applies the result of a walk.
  private func note(_ found: FolderLook, of id: Int, _ before: Root, took: Int64) {
    var (root, look) = (before, found)
    let now = EventLoop.bootMicroseconds()
    root.restsUntil = now + min(Self.rest.longest, max(Self.walkPause, took * Self.rest.times))
    // A meanwhile event is for a later walk.
    root.walkAt = root.walkAt.map { max($0, root.restsUntil) }
    let isLate = look.watches.isEmpty
    if case .tree(var tree) = look.found, tree.isCut, tree.identity == root.identity {
      tree.watches.formUnion(table.rest(of: id, beside: look.watches.map(\.watch), most: Self.most))
      look.found = .tree(tree)
    }
    if !isLate { release(table.set(id, look.watches)) }
    root.hasLooseStep = look.steps.contains { $0.name != nil }
    var isChange = false
    var (isSure, mayImprove) = (true, false)
    switch look.found {
    case .tree(let tree):
      isChange = tree.newest.map { $0 > owner.seenUntil(root.folder.app) } ?? false
      // Another folder has taken its place, whatever the times say.
      if root.identity != nil, root.identity != tree.identity, !root.isMounted { isChange = true }
      root.identity = tree.identity
      root.state = WatchedState(folders: tree.watches.count, problem: tree.problem)
      (root.isCut, mayImprove) = (tree.isCut, tree.isCut)
      // Something may have changed where the walk did not get: that is reported once.
      if tree.isCut, !before.isCut, EventLoop.wallMicroseconds() > owner.seenUntil(root.folder.app) { isChange = true }
    case .missing(let reason):
      root.isCut = false
      isChange = root.identity != nil && !root.isMounted
      root.identity = nil
      root.state = WatchedState(problem: reason)
      mayImprove = look.hasGap
    case .unknown(let reason):
      if !isLate { root.identity = nil }
      root.state = WatchedState(folders: isLate ? root.state.folders : 0, problem: reason)
      (isSure, mayImprove) = (false, true)
    }
    root.failures = mayImprove ? Self.retries.counting(root.failures) : 0
    if mayImprove {
      let retry = now + Self.retries.wait(after: root.failures).inMicroseconds
      root.walkAt = min(root.walkAt ?? retry, retry)
    }
    if isSure, before.walkAt == nil { root.isMounted = false }
    roots[id] = root
    if root.state != before.state { owner.stateChanged(of: root.folder, to: root.state) }
    if isChange { owner.foldersChanged([root.folder]) }
  }

  /// Removes unneeded watches; after a walk that may need them.
  private func release(_ watches: [Int32]) {
    guard walk == nil else { return unused += watches }
    for watch in watches where table[watch] == nil { queue.remove(watch) }
  }
}

/// The watches of one user, each with its purposes.
///
/// A directory has one watch only. It may be below several folders, or on the way to others.
struct WatchTable {
  /// The purpose of a watch for a folder.
  enum Purpose: Hashable {
    /// It is the folder itself.
    case root
    /// It is below the folder.
    case below
    /// It is on the way to the folder; a change of the named entry, if any, would lead elsewhere.
    case step(String?)

    /// Whether events of its entries are changes in the folder.
    var isOfTree: Bool { self == .root || self == .below }
  }

  /// The purposes of each watch, by the number of the folder.
  private var uses: [Int32: [Int: [Purpose]]] = [:]
  private var watches: [Int: Set<Int32>] = [:]

  /// The purposes of a watch, by the number of the folder; nil for an unknown watch.
  subscript(watch: Int32) -> [Int: [Purpose]]? { uses[watch] }

  /// The watches on a folder and on the folders below it.
  func tree(of folder: Int) -> Set<Int32> {
    (watches[folder] ?? []).filter { uses[$0]?[folder]?.contains(where: \.isOfTree) ?? false }
  }

  /// The watches of all other folders, including directories on the way.
  func watches(besides folder: Int) -> Set<Int32> {
    Set(uses.filter { $0.value.contains { $0.key != folder } }.keys)
  }

  /// The watches of a folder that a walk has not reached, as far as the bound of all watches has room.
  func rest(of folder: Int, beside reached: [Int32], most: Int) -> [Int32] {
    let held = watches(besides: folder)
    var room = most - held.union(reached).count
    return tree(of: folder).subtracting(reached).sorted().filter { watch in
      if held.contains(watch) { return true }
      room -= 1
      return room >= 0
    }
  }

  /// Sets the watches of a folder, and returns the watches that nothing needs any more.
  mutating func set(_ folder: Int, _ new: [(watch: Int32, purpose: Purpose)]) -> [Int32] {
    let before = watches.removeValue(forKey: folder) ?? []
    for watch in before { uses[watch]?[folder] = nil }
    for (watch, purpose) in new { uses[watch, default: [:]][folder, default: []].append(purpose) }
    watches[folder] = new.isEmpty ? nil : Set(new.map(\.watch))
    let unused = before.filter { uses[$0]?.isEmpty ?? true }
    for watch in unused { uses[watch] = nil }
    return unused.sorted()
  }

  /// Forgets a watch that the kernel has ended; returns the folders for which it was more than a folder below.
  mutating func forget(_ watch: Int32) -> [Int] {
    let ended = uses.removeValue(forKey: watch) ?? [:]
    for folder in ended.keys { watches[folder]?.remove(watch) }
    return ended.filter { $0.value.contains { $0 != .below } }.keys.sorted()
  }
}
