/// A hash table that finds the index of an app by its id.
///
/// It holds indexes only, because the ids lie in a list beside it; a dictionary would hold the ids a second time.
struct IDTable {
  /// An id takes the first free bucket from its hash on; -1 marks a free bucket.
  ///
  /// A quarter of the buckets or more stay free.
  private var buckets: ContiguousArray<AppIndex> = [-1]

  /// Makes a table with room for so many apps.
  init(capacity: Int = 0) {
    var count = 1
    while count * 3 < capacity * 4 || count <= capacity { count *= 2 }
    buckets = ContiguousArray(repeating: -1, count: count)
  }

  /// The index of an id in the list whose ids were inserted.
  func index(of id: AppID, in ids: ContiguousArray<AppID>) -> AppIndex? {
    var bucket = self.bucket(of: id)
    while buckets[bucket] >= 0 {
      if ids[Int(buckets[bucket])] == id { return buckets[bucket] }
      bucket = (bucket + 1) & (buckets.count - 1)
    }
    return nil
  }

  /// Inserts the last id of the list, which is not in the table yet.
  mutating func insertLast(of ids: ContiguousArray<AppID>) {
    guard let id = ids.last else { return }
    var bucket = self.bucket(of: id)
    while buckets[bucket] >= 0 { bucket = (bucket + 1) & (buckets.count - 1) }
    buckets[bucket] = AppIndex(ids.count - 1)
  }

  private func bucket(of id: AppID) -> Int { id.hashValue & (buckets.count - 1) }
}
