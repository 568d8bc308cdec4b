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
