/// The index of an app in ``AppTable``, from 0 in order of id.
///
/// The engine's own tables hold this index and not the id, because it is small and needs no hash.
typealias AppIndex = Int32

/// Collects apps in any order; each may come more than once.
struct AppIndexes {
  private var noted: [AppIndex] = []

  mutating func insert(_ index: AppIndex) { noted.append(index) }

  mutating func insert(_ indexes: some Sequence<AppIndex>) { noted.append(contentsOf: indexes) }

  /// Each app once, in order of id.
  var inOrder: [AppIndex] {
    if zip(noted, noted.dropFirst()).allSatisfy(<) { return noted }
    var indexes: [AppIndex] = []
    for index in noted.sorted() where indexes.last != index { indexes.append(index) }
    return indexes
  }
}

/// A value for each app; nil for an app that has none.
struct PerApp<Value: Sendable>: Sendable {
  private var values: ContiguousArray<Value?> = []

  subscript(index: AppIndex) -> Value? {
    get { Int(index) < values.count ? values[Int(index)] : nil }
    set {
      while values.count <= Int(index) { values.append(nil) }
      values[Int(index)] = newValue
    }
  }
}

/// A flag for each app; false until it is set.
struct AppFlags {
  private var flags: ContiguousArray<Bool> = []

  subscript(index: AppIndex) -> Bool {
    get { Int(index) < flags.count && flags[Int(index)] }
    set {
      guard newValue != self[index] else { return }
      while flags.count <= Int(index) { flags.append(false) }
      flags[Int(index)] = newValue
    }
  }

  /// The apps whose flag is set, in order of id.
  var all: some Sequence<AppIndex> {
    flags.lazy.enumerated().compactMap { index, isSet in isSet ? AppIndex(index) : nil }
  }
}
