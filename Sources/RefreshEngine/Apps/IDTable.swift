/// A hash table that finds the index of an app by its id.
///
/// It holds indexes only, because the ids lie in a list beside it; a dictionary would hold the ids a second time.
struct IDTable {
  /// An id takes the first free slot from its hash on; -1 marks a free slot.
  ///
  /// A quarter of the slots or more stay free.
  private var slots: ContiguousArray<AppIndex> = [-1]

  /// Makes a table with room for so many apps.
  init(capacity: Int = 0) {
    var count = 1
    while count * 3 < capacity * 4 || count <= capacity { count *= 2 }
    slots = ContiguousArray(repeating: -1, count: count)
  }

  /// The index of an id in the list whose ids were inserted.
  func index(of id: AppID, in ids: ContiguousArray<AppID>) -> AppIndex? {
    var slot = self.slot(of: id)
    while slots[slot] >= 0 {
      if ids[Int(slots[slot])] == id { return slots[slot] }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Inserts the last id of the list, which is not in the table yet.
  mutating func insertLast(of ids: ContiguousArray<AppID>) {
    guard let id = ids.last else { return }
    var slot = self.slot(of: id)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = AppIndex(ids.count - 1)
  }

  private func slot(of id: AppID) -> Int { id.hashValue & (slots.count - 1) }
}
