/// The findings of a walk through a folder, whose directories are watched from then on.
struct FolderLook: Sendable {
  /// A directory on the way to the folder.
  struct LookStep: Sendable {
    let watch: Int32
    /// The entry whose change leads elsewhere; nil while only the directory itself can.
    let name: String?
  }

  /// A watched folder.
  struct Tree: Sendable {
    /// The file system and the number of the directory there.
    let identity: [UInt64]
    /// The watch on the folder itself.
    let root: Int32
    /// The watches on it and on the folders below it.
    var watches: Set<Int32>
    /// When something changed last in the directories that were not watched before, in microseconds of the wall clock; nil if
    /// all were.
    var newest: Int64?
    /// Why it is not watched wholly, or what is not seen there.
    var problem: String?
    /// Whether a bound ended the walk, so that a later one may get further.
    var isCut = false
  }

  enum Found: Sendable {
    case tree(Tree)
    case missing(String)
    case unknown(String)
  }

  var steps: [LookStep] = []
  /// Whether a directory on the way is not watched in which another entry would lead elsewhere.
  var hasGap = false
  var found: Found

  /// All watches, and what each is for.
  var watches: [(watch: Int32, purpose: WatchTable.Purpose)] {
    var watches = steps.map { (watch: $0.watch, purpose: WatchTable.Purpose.step($0.name)) }
    guard case .tree(let tree) = found else { return watches }
    watches += tree.watches.sorted().map { (watch: $0, purpose: $0 == tree.root ? .root : .below) }
    return watches
  }
}
