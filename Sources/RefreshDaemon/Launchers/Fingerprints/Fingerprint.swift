import RefreshEngine

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
