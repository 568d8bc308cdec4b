import RefreshConfig
import RefreshEngine
import Systemd

/// The path that shows whether a task brought new data, from the look before the start to the look after the end.
struct ChangedPath {
  let path: String
  /// The answer of the look before the start; nil before that look, and if a previous daemon did not keep it.
  var before: PathLook?
  /// When the refresh is asked to end, boot clock; nil for a task of a previous daemon.
  private let deadline: Instant?

  init(_ path: String, deadline: Instant?) { (self.path, self.deadline) = (path, deadline) }

  /// How long the look before the start may take: a quarter of the task's time.
  func boundBefore(at now: Instant) -> Duration { left(at: now) / 4 }

  /// How long the look after the end may take: an ended task must not pass its deadline by it.
  func boundAfter(at now: Instant) -> Duration { max(.milliseconds(100), left(at: now) / 2) }

  private func left(at now: Instant) -> Duration {
    deadline.map { max(.zero, now.duration(to: $0)) } ?? FingerprintReader.longest
  }

  /// A task's end with the answer whether the path has changed; `after` is nil if it did not answer in time.
  func judged(_ end: TaskEnd, after: PathLook?) -> TaskEnd {
    var end = end
    switch (before ?? .unknown("nobody knows how it was before"), after ?? .unknown("it did not answer in time")) {
    case (.seen(let before), .seen(let after)): end.changed = before != after
    case (.unknown(let reason), _), (_, .unknown(let reason)):
      end.changed = nil
      if end.exit == .exited(0) { end.message = "cannot tell whether \(path) changed: \(reason)" }
    }
    return end
  }
}

extension NewData {
  /// The path to look at before and after the task, if it judges the task.
  var path: String? {
    if case .changed(let path) = self { path } else { nil }
  }
}

/// The state of a path for `new_data = "changed:PATH"`: equal fingerprints mean that nothing changed.
///
/// A file counts with its inode, its size and the time of its last change. A directory counts with the names below it
/// and its files. The times of directories do not count, so that a lock file that comes and goes is no change. A
/// symbolic link on the way to the path is followed; a link below it counts with its own inode and times. Mounts below
/// the path are skipped, and entries that the owner cannot read count as empty.
///
/// The hash is the same in every process, so the next daemon can compare a fingerprint that is kept as text.
struct Fingerprint: Hashable, Sendable {
  /// The number of entries of the tree; 0 when the path does not exist.
  private(set) var entries = 0
  private var sum: UInt64 = 0

  /// The fingerprint of a path that does not exist.
  init() {}

  /// Reads the form that ``text`` writes; nil for any other text.
  init?(text: some StringProtocol) {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 2, let entries = Int(parts[0]), let sum = UInt64(parts[1], radix: 16) else { return nil }
    (self.entries, self.sum) = (entries, sum)
  }

  /// The fingerprint in one line.
  var text: String { "\(entries) \(String(sum, radix: 16))" }

  /// Adds an entry by the hash of its path and state; the order of the entries does not matter.
  mutating func add(_ hash: StableHash) {
    entries += 1
    sum &+= hash.value
  }
}

/// The answer to a look at a path.
enum PathLook: Hashable, Sendable {
  /// The state of the path.
  case seen(Fingerprint)
  /// The state is unknown; the reason, to follow "cannot tell whether PATH changed:".
  case unknown(String)

  /// The fingerprint; nil if it is unknown.
  var fingerprint: Fingerprint? { if case .seen(let fingerprint) = self { fingerprint } else { nil } }
}

/// Looks at the paths of `new_data = "changed:PATH"`; ``FingerprintReader`` looks at the real paths.
protocol PathLooks: AnyObject {
  /// The silent paths, each in a few words.
  var overdue: [String] { get }

  /// Takes the fingerprint of a path as its owner sees it, and calls `receive` with it later.
  ///
  /// `bound` is the longest time until the answer.
  func look(at path: String, as owner: Owner, within bound: Duration, receive: @escaping (PathLook) -> Void)
}

/// Takes fingerprints of paths on threads, and answers on the loop within a bound.
final class FingerprintReader: PathLooks {
  /// The longest time that a look may take.
  static let longest = OwnersLooks<PathLook>.longest

  private let looks: OwnersLooks<PathLook>
  private let look: @Sendable (String, Owner, TreeWalk.WalkBounds) -> PathLook

  /// Makes a reader that answers on the loop.
  ///
  /// `look` looks at a path; a test gives a look that hangs.
  init(
    on loop: EventLoop,
    look: @escaping @Sendable (String, Owner, TreeWalk.WalkBounds) -> PathLook = { path, owner, bounds in
      TreeWalk.look(at: path, as: owner, within: bounds)
    }
  ) throws {
    self.look = look
    looks = try OwnersLooks(on: loop) { .unknown($0) }
  }

  var overdue: [String] { looks.overdue }

  /// Calls `receive` in a later turn of the loop; the bound is never longer than ``longest``.
  func look(at path: String, as owner: Owner, within bound: Duration, receive: @escaping (PathLook) -> Void) {
    looks.look(at: path, as: owner, within: bound, by: { [look] in look(path, owner, $0) }, receive: receive)
  }
}
