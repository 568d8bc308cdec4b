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
