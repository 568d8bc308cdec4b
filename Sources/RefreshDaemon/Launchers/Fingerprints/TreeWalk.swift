@preconcurrency import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

/// A look at a path and all below it, as the app's owner sees it, within bounds of entries, depth and time.
///
/// It may block for as long as a disk or a server does, so it is for a thread of its own. It opens directories only: a
/// FIFO or a device is looked at from outside.
struct TreeWalk {
  /// The bounds of a walk.
  struct WalkBounds {
    /// The files whose state is examined; beyond this number only names count, so a change in place goes unnoticed.
    var files = 200_000
    /// The entries of a tree.
    var entries = 1_000_000
    /// The levels of directories; each takes a descriptor while it is walked.
    var depth = 64
    /// When the walk must have ended, on the monotonic clock, in microseconds.
    var end = Int64.max
  }

  /// The entries between two looks at the clock.
  private static let stride = 256

  private let view: OwnersView
  private let bounds: WalkBounds
  private var fingerprint = Fingerprint()

  /// Looks at an absolute path.
  static func look(at path: String, as owner: Owner, within bounds: WalkBounds = WalkBounds()) -> PathLook {
    var walk = TreeWalk(view: OwnersView(of: owner), bounds: bounds)
    do throws(NoLook) {
      if let place = try OwnersPath.open(path, walk.view) { try walk.add(place, path) }
      return .seen(walk.fingerprint)
    } catch {
      return .unknown(error.reason)
    }
  }

  /// Adds what a path leads to, and all below it.
  private mutating func add(_ place: OpenEntry, _ path: String) throws(NoLook) {
    var hash = StableHash()
    for byte in path.utf8 { hash.combine(byte) }
    guard place.kind == S_IFDIR else {
      hash.combine(UInt8(0))
      if bounds.files > 0 { hash.combine(place.status) }
      return fingerprint.add(hash)
    }
    var prefix = hash
    if !path.hasSuffix("/") { prefix.combine(UInt8(ascii: "/")) }
    hash.combine(UInt8(1))
    fingerprint.add(hash)
    var levels: [WalkedDirectory] = []
    guard view.mayList(place.status) else { return }
    guard let first = WalkedDirectory(".", in: place.descriptor, prefix) else { throw NoLook(errno: errno) }
    levels.append(first)
    while let level = levels.last {
      errno = 0
      guard let entry = level.next() else {
        guard errno == 0 else { throw NoLook(errno: errno) }
        levels.removeLast()
        continue
      }
      guard fingerprint.entries < bounds.entries else { throw NoLook("it has more than \(bounds.entries) entries") }
      if fingerprint.entries % Self.stride == 1, EventLoop.monotonicMicroseconds() > bounds.end {
        throw NoLook("it has more entries than can be looked at in time")
      }
      if let below = add(entry, in: level, of: first) {
        guard levels.count < bounds.depth else { throw NoLook("it has more than \(bounds.depth) levels") }
        levels.append(below)
      }
    }
  }

  /// Adds an entry, and gives it to be walked if it is a directory that the owner may list.
  private mutating func add(
    _ entry: WalkedDirectory.Child, in level: WalkedDirectory, of first: WalkedDirectory
  ) -> WalkedDirectory? {
    let maySearch = view.maySearch(level.status)
    var hash = level.prefix
    entry.combine(into: &hash)
    guard entry.isDirectory(maySearch: maySearch, in: level) else {
      hash.combine(UInt8(0))
      if maySearch, fingerprint.entries < bounds.files, let status = entry.status(in: level) { hash.combine(status) }
      fingerprint.add(hash)
      return nil
    }
    var prefix = hash
    prefix.combine(UInt8(ascii: "/"))
    hash.combine(UInt8(1))
    fingerprint.add(hash)
    guard maySearch, let status = entry.status(in: level), status.st_dev == first.status.st_dev, view.mayList(status)
    else { return nil }
    return WalkedDirectory(entry.name, in: level.descriptor, prefix)
  }
}

extension StableHash {
  /// Adds the state of a file that is not a directory.
  fileprivate mutating func combine(_ status: stat) {
    combine(status.st_mode)
    combine(status.st_ino)
    combine(status.st_size)
    combine(status.st_mtim.tv_sec)
    combine(status.st_mtim.tv_nsec)
  }
}
