@preconcurrency import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Synchronization
import Systemd

/// The result of a walk through a folder; the directories that it found are watched from then on.
struct FolderLook: Sendable {
  /// A directory on the way to the folder.
  struct LookStep: Sendable {
    let watch: Int32
    /// The entry whose change would lead elsewhere; nil if only the directory itself can change the way.
    let name: String?
  }

  /// A watched folder.
  struct Tree: Sendable {
    /// The device of the directory, and its inode number.
    let identity: [UInt64]
    /// The watch on the folder itself.
    let root: Int32
    /// The watches on the folder and on the folders below it.
    var watches: Set<Int32>
    /// The last change in directories that were not watched before, in microseconds of the wall clock; nil if all were
    /// watched.
    var newest: Int64?
    /// Why the folder is not watched completely.
    var problem: String?
    /// Whether a bound ended the walk, so that a later walk may get further.
    var isCut = false
  }

  enum Found: Sendable {
    case tree(Tree)
    case missing(String)
    case unknown(String)
  }

  var steps: [LookStep] = []
  /// Whether a directory on the way is not watched, although a change of an entry there would lead elsewhere.
  var hasGap = false
  var found: Found

  /// All watches with their purposes.
  var watches: [(watch: Int32, purpose: WatchTable.Purpose)] {
    var watches = steps.map { (watch: $0.watch, purpose: WatchTable.Purpose.step($0.name)) }
    guard case .tree(let tree) = found else { return watches }
    watches += tree.watches.sorted().map { (watch: $0, purpose: $0 == tree.root ? .root : .below) }
    return watches
  }
}

/// A walk through a folder with the rights of its owner; watches it and the folders below it.
///
/// It may block as long as a disk or a server does, so it runs on a thread of its own.
struct FolderWalk {
  /// The folder to walk through, and the bounds.
  struct WalkOrder: Sendable {
    let path: String
    let owner: Owner
    let queue: InotifyQueue
    /// The most directories to watch, including directories on the way, besides the watches of other folders.
    let room: Int
    /// The watches of other folders, which take no room.
    let held: Set<Int32>
    /// The earlier watches of the folder and of the folders below it, if it is the same folder.
    let known: Set<Int32>
    /// The directory of the daemon's own files, which it writes all the time.
    let stateDirectory: String
    /// Tells the walk to stop, because its caller gave up.
    let isGivenUp: GivenUp
  }

  /// Whether the caller has given up a walk, which then must watch nothing more.
  final class GivenUp: Sendable {
    private let flag = Atomic(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
  }

  /// A directory that is being read.
  private struct Level {
    let directory: WalkedDirectory
    /// Whether it was not watched before, so that something in it may have changed unseen.
    let isNew: Bool
  }

  /// How many entries are read between two readings of the clock.
  private static let stride = 256

  private let order: WalkOrder
  private let bounds: TreeWalk.WalkBounds
  private let view: OwnersView
  /// The device and inode number of the daemon's own directory.
  private let own: [UInt64]?
  private var entries = 0
  /// The watches that take room.
  private var taken: Set<Int32> = []
  /// The present, in microseconds of the wall clock: later times of files are wrong; read again when a file has one.
  private var now = EventLoop.wallMicroseconds()

  /// Walks through a folder.
  static func look(_ order: WalkOrder, within bounds: TreeWalk.WalkBounds) -> FolderLook {
    var walk = FolderWalk(order: order, bounds: bounds, view: OwnersView(of: order.owner))
    return walk.find()
  }

  private init(order: WalkOrder, bounds: TreeWalk.WalkBounds, view: OwnersView) {
    (self.order, self.bounds, self.view) = (order, bounds, view)
    var status = stat()
    own = stat(order.stateDirectory, &status) == 0 ? Self.identity(of: status) : nil
  }

  private mutating func find() -> FolderLook {
    var look = FolderLook(found: .unknown(""))
    do throws(NoLook) {
      var taken: Set<Int32> = []
      var isOwn = false
      let place = try OwnersPath.open(order.path, view) { step in
        if Self.identity(of: step.directory.status) == own { isOwn = true }
        let events = InotifyQueue.itself | (step.isLoose ? InotifyQueue.entries : 0)
        // A user's daemon may not watch each directory that its user may traverse.
        guard taken.count < order.room, !order.isGivenUp.isSet,
          let watch = order.queue.add(step.directory.descriptor, for: events)
        else { return look.hasGap = look.hasGap || step.isLoose }
        if !order.held.contains(watch) { taken.insert(watch) }
        look.steps.append(FolderLook.LookStep(watch: watch, name: step.isLoose ? step.name : nil))
      }
      self.taken = taken
      look.found = try find(place, isOwn: isOwn)
    } catch {
      look.found = .unknown(error.reason)
    }
    return look
  }

  private mutating func find(_ place: OpenEntry?, isOwn: Bool) throws(NoLook) -> FolderLook.Found {
    guard let place else { return .missing("it does not exist") }
    guard place.kind == S_IFDIR else { return .missing("it is not a folder") }
    guard !isOwn, Self.identity(of: place.status) != own else { return .missing("refreshd keeps its own state there") }
    guard view.mayList(place.status) else { return .unknown("its owner may not read it") }
    return .tree(try watch(place))
  }

  /// Watches a folder and the folders below it on its file system.
  private mutating func watch(_ place: OpenEntry) throws(NoLook) -> FolderLook.Tree {
    guard let first = WalkedDirectory(".", in: place.descriptor, StableHash()) else { throw NoLook(errno: errno) }
    guard taken.count < order.room else { throw NoLook(Self.full) }
    guard let root = order.queue.add(first.descriptor, for: InotifyQueue.contents | InotifyQueue.itself) else {
      throw NoLook(Self.reason(errno))
    }
    var tree = FolderLook.Tree(
      identity: Self.identity(of: first.status), root: root, watches: [root],
      problem: Self.blindness(of: first.descriptor))
    keepWatch(root)
    var levels = [Level(directory: first, isNew: !order.known.contains(root))]
    if levels[0].isNew { tree.newest = time(first.status) }
    while let level = levels.last {
      errno = 0
      guard let entry = level.directory.next() else {
        guard errno == 0 else { throw NoLook(errno: errno) }
        levels.removeLast()
        continue
      }
      entries += 1
      if entries % Self.stride == 1, EventLoop.monotonicMicroseconds() > bounds.end || order.isGivenUp.isSet {
        return cut(tree, "it has more entries than can be looked at in time")
      }
      guard entries < bounds.entries else { return cut(tree, "it has more than \(bounds.entries) entries") }
      guard let below = look(at: entry, in: level, of: first, &tree) else { continue }
      guard taken.count < order.room else { return cut(tree, Self.full) }
      guard let watch = order.queue.add(below.descriptor, for: InotifyQueue.contents) else {
        let code = errno
        // It was removed meanwhile, or the kernel denies the user.
        if code == ENOENT || code == EACCES { continue }
        return cut(tree, Self.reason(code))
      }
      tree.watches.insert(watch)
      keepWatch(watch)
      guard levels.count < bounds.depth else {
        tree = cut(
          tree, "it has more than \(bounds.depth) levels, and changes below them are not seen", mayImprove: false)
        continue
      }
      let isNew = !order.known.contains(watch)
      if isNew { tree.newest = max(tree.newest ?? 0, time(below.status)) }
      levels.append(Level(directory: below, isNew: isNew))
    }
    return tree
  }

  /// Examines an entry, and adds it to the directories to watch if the owner may list it.
  private mutating func look(
    at entry: WalkedDirectory.Child, in level: Level, of first: WalkedDirectory, _ tree: inout FolderLook.Tree
  ) -> WalkedDirectory? {
    let directory = level.directory
    let maySearch = view.maySearch(directory.status)
    let isDirectory = entry.isDirectory(maySearch: maySearch, in: directory)
    guard maySearch, isDirectory || level.isNew, let status = entry.status(in: directory) else { return nil }
    guard status.st_dev == first.status.st_dev else { return nil }
    guard isDirectory else {
      tree.newest = max(tree.newest ?? 0, time(status))
      return nil
    }
    guard view.mayList(status), Self.identity(of: status) != own else { return nil }
    return WalkedDirectory(entry.name, in: directory.descriptor, directory.prefix)
  }

  /// The last change of an entry, in microseconds of the wall clock.
  ///
  /// The time of the inode counts too, because programs that copy files keep the times of the originals.
  private mutating func time(_ status: stat) -> Int64 {
    let times = [status.st_mtim, status.st_ctim].map { Int64($0.tv_sec) * 1_000_000 + Int64($0.tv_nsec) / 1000 }
    // It may have changed during the walk.
    if times.contains(where: { $0 > now }) { now = EventLoop.wallMicroseconds() }
    return times.filter { $0 <= now }.max() ?? 0
  }

  private mutating func keepWatch(_ watch: Int32) { if !order.held.contains(watch) { taken.insert(watch) } }

  private static func identity(of status: stat) -> [UInt64] { [UInt64(status.st_dev), UInt64(status.st_ino)] }

  /// A partly watched folder: at the first look, changes where the walk did not get may be new.
  private func cut(_ tree: FolderLook.Tree, _ problem: String, mayImprove: Bool = true) -> FolderLook.Tree {
    var tree = tree
    tree.problem = problem
    tree.isCut = mayImprove
    if !order.known.contains(tree.root) { tree.newest = now }
    return tree
  }

  private static let full =
    "more than \(OwnerFolders.most) folders of its owner's apps have to be watched; changes in the rest are not seen"

  private static func reason(_ code: Int32) -> String {
    code == ENOSPC
      ? "the machine watches as many folders as fs.inotify.max_user_watches allows; changes in the rest are not seen"
      : SystemCallError.text(of: code)
  }

  /// The changes that the kernel does not report on a folder's file system, in words; nil if it reports all.
  private static func blindness(of descriptor: Int32) -> String? {
    let type = linux_file_system(descriptor)
    if let name = remote[type] { return "it is on \(name), and what other machines change there is not seen" }
    return silent[type].map { "it is on \($0), where the kernel does not report changes" }
  }

  /// File systems whose files other machines change, by their numbers in statfs(2).
  private static let remote: [UInt32: String] = [
    0x6969: "nfs", 0x517b: "smb", 0xff53_4d42: "cifs", 0xfe53_4d42: "smb3", 0x0102_1997: "9p", 0x5346_414f: "afs",
    0x00c3_6400: "ceph", 0x6573_5546: "fuse",
  ]
  /// File systems whose files the kernel generates on each read.
  private static let silent: [UInt32: String] = [
    0x9fa0: "proc", 0x6265_6572: "sysfs", 0x0027_e0eb: "cgroup", 0x6367_7270: "cgroup2", 0x6462_6720: "debugfs",
  ]
}
