import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// Watches folders of apps by inotify(7), with an instance and bounds for each user.
///
/// It wakes nobody at rest: no timer runs, and a quiet directory has no events.
final class InotifyFolders: FolderWatch {
  private unowned let owner: any FolderWatchOwner
  private let loop: EventLoop
  /// The kernel's table of mounts.
  private let mountTable: String
  private var looks: OwnersLooks<FolderLook>?
  private var users: [UInt32: OwnerFolders] = [:]
  private var mounts: MountTable?
  private var points: Set<String> = []
  /// The problems of folders whose users have no instance.
  private var refused: [WatchedFolder: String] = [:]
  private let stateDirectory: String
  private var wanted: [UInt32: [WatchedFolder]] = [:]
  private var failures: Int32 = 0
  private var retryTimer: TimerSource?

  /// Makes a watch on no folders.
  ///
  /// In `stateDirectory`, the directory of the daemon's own files, nothing counts as a change.
  init(
    on loop: EventLoop, stateDirectory: String, mountTable: String = "/proc/self/mountinfo",
    for owner: any FolderWatchOwner
  ) {
    (self.loop, self.stateDirectory, self.mountTable, self.owner) = (loop, stateDirectory, mountTable, owner)
  }

  deinit { retryTimer?.cancel() }

  func watch(_ folders: [WatchedFolder]) {
    wanted = Dictionary(grouping: folders, by: \.owner.uid)
    for user in users.keys where wanted[user] == nil { users[user] = nil }
    let kept = Set(folders)
    refused = refused.filter { kept.contains($0.key) }
    failures = 0
    if folders.isEmpty { (mounts, looks, points) = (nil, nil, []) }
    serve(wanted.keys.sorted())
  }

  /// Watches the folders of users; retries later for users who cannot have an instance now.
  private func serve(_ owners: [UInt32]) {
    for user in owners {
      let folders = wanted[user] ?? []
      do {
        try open()
        try self.folders(of: user).watch(folders)
        for folder in folders { refused[folder] = nil }
      } catch {
        for folder in folders { refuse(folder, Self.reason(error)) }
      }
    }
    guard !refused.isEmpty else {
      retryTimer?.disarm()
      return
    }
    failures = OwnerFolders.retries.counting(failures)
    do {
      let timer = try retryTimer ?? loop.timer { [unowned self] in serve(Set(refused.keys.map(\.owner.uid)).sorted()) }
      timer.arm(
        at: EventLoop.bootMicroseconds() + OwnerFolders.retries.wait(after: failures).inMicroseconds,
        accuracy: 1_000_000)
      retryTimer = timer
    } catch {
      for folder in refused.keys { refuse(folder, "\(error)") }
    }
  }

  private static func reason(_ error: any Error) -> String {
    guard let error = error as? SystemCallError, error.code == EMFILE else { return "\(error)" }
    return
      "the daemon has as many inotify instances as fs.inotify.max_user_instances allows, or as many open files as it may have"
  }

  func drain(_ user: UInt32, passingOver apps: Set<AppID>) { users[user]?.drain(passingOver: apps) }

  func state(of folder: WatchedFolder) -> WatchedState {
    if let problem = refused[folder] { return WatchedState(problem: problem) }
    return users[folder.owner.uid]?.state(of: folder) ?? WatchedState()
  }

  private func refuse(_ folder: WatchedFolder, _ problem: String) {
    guard refused[folder] != problem else { return }
    refused[folder] = problem
    owner.stateChanged(of: folder, to: WatchedState(problem: problem))
  }

  private func open() throws {
    if looks == nil { looks = try OwnersLooks(on: loop) { FolderLook(found: .unknown($0)) } }
    guard mounts == nil else { return }
    let table = try MountTable(mountTable, on: loop) { [unowned self] in mountsChanged() }
    (mounts, points) = (table, table.points)
  }

  private func folders(of user: UInt32) throws -> OwnerFolders {
    if let known = users[user] { return known }
    guard let looks else { throw SystemCallError(attempt: "watch folders", code: 0) }
    let new = try OwnerFolders(on: loop, looks, stateDirectory: stateDirectory, for: owner)
    users[user] = new
    return new
  }

  /// Walks again through the folders that a changed mount may cover.
  private func mountsChanged() {
    guard let mounts else { return }
    let changed = points.symmetricDifference(mounts.points)
    points = mounts.points
    if !changed.isEmpty { for folders in users.values { folders.mountsChanged(at: changed) } }
  }
}

/// An instance of inotify(7): watched directories and their events.
///
/// Walking threads add watches; the event loop does the rest. The last owner closes the instance, so that a hanging thread
/// cannot add a watch to a later instance.
final class InotifyQueue: Sendable {
  /// An event, valid until the next is read.
  struct InotifyEvent {
    /// The watch; -1 when events were lost.
    let watch: Int32
    /// The bits of inotify(7).
    let mask: Int32
    fileprivate let name: UnsafeRawBufferPointer

    func has(_ bits: Int32) -> Bool { mask & bits != 0 }

    /// Whether the event is about the entry with that name.
    func isAbout(_ entry: String) -> Bool { name.prefix { $0 != 0 }.elementsEqual(entry.utf8) }
  }

  /// Events of a folder's contents: entries that are made, written, moved or removed.
  ///
  /// Openings and changes of attributes are left out, because indexing programs cause them all the time.
  static let contents = IN_CREATE | IN_MODIFY | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE
  /// Events of a directory itself, after which another directory may have its path.
  static let itself = IN_MOVE_SELF | IN_DELETE_SELF
  /// Events of an entry that is a symbolic link, or does not exist yet.
  static let entries = IN_CREATE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE

  /// The most bytes of events to read at once: a full queue of the kernel's default size, with names of usual length.
  private static let mostBytes = 1 << 20
  private static let blockBytes = 1 << 16

  let descriptor: Int32

  init() throws(SystemCallError) {
    descriptor = linux_inotify()
    guard descriptor >= 0 else { throw SystemCallError(attempt: "watch folders", code: errno) }
  }

  deinit { close(descriptor) }

  /// Watches an open directory, and keeps the events that it is watched for already.
  ///
  /// - Returns: the number of the watch, always the same for a directory; nil, with `errno`, if that fails.
  func add(_ directory: Int32, for events: Int32) -> Int32? {
    let watch = inotify_add_watch(
      descriptor, "/proc/self/fd/\(directory)", UInt32(events | IN_ONLYDIR | IN_MASK_ADD))
    return watch < 0 ? nil : watch
  }

  func remove(_ watch: Int32) { inotify_rm_watch(descriptor, watch) }

  /// Reads the waiting events.
  func read(_ body: (InotifyEvent) -> Void) {
    let head = MemoryLayout<inotify_event>.size
    withUnsafeTemporaryAllocation(byteCount: Self.blockBytes, alignment: 8) { block in
      var left = Self.mostBytes
      while left > 0 {
        let count = Glibc.read(descriptor, block.baseAddress, block.count)
        guard count > 0 else { return }
        left -= count
        var offset = 0
        while offset + head <= count {
          let event = block.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          let end = min(count, offset + head + Int(event.len))
          body(
            InotifyEvent(
              watch: event.wd, mask: Int32(bitPattern: event.mask),
              name: UnsafeRawBufferPointer(rebasing: block[(offset + head)..<end])))
          offset = end
        }
      }
    }
  }
}
