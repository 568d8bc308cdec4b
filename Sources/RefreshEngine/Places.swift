/// The place of an app in the ``AppTable``, from 0 in order of id: what the engine's own indexes have in place of the id,
/// because it is small and needs no hash.
typealias Place = Int32

/// Places that were noted in any order and more than once.
struct Places {
  private var noted: [Place] = []

  /// Notes a place.
  mutating func insert(_ place: Place) { noted.append(place) }

  /// Notes places.
  mutating func insert(_ places: some Sequence<Place>) { noted.append(contentsOf: places) }

  /// Each place once, in order of id.
  var inOrder: [Place] {
    if zip(noted, noted.dropFirst()).allSatisfy(<) { return noted }
    var places: [Place] = []
    for place in noted.sorted() where places.last != place { places.append(place) }
    return places
  }
}

/// Something for each place; nil where there is nothing.
struct ByPlace<Value: Sendable>: Sendable {
  private var values: ContiguousArray<Value?> = []

  subscript(place: Place) -> Value? {
    get { Int(place) < values.count ? values[Int(place)] : nil }
    set {
      while values.count <= Int(place) { values.append(nil) }
      values[Int(place)] = newValue
    }
  }
}

/// A yes or no for each place; no where nothing was said.
struct Marks {
  private var marks: ContiguousArray<Bool> = []

  subscript(place: Place) -> Bool {
    get { Int(place) < marks.count && marks[Int(place)] }
    set {
      guard newValue != self[place] else { return }
      while marks.count <= Int(place) { marks.append(false) }
      marks[Int(place)] = newValue
    }
  }

  /// The places that are marked, in order of id.
  var all: some Sequence<Place> {
    marks.lazy.enumerated().compactMap { index, isMarked in isMarked ? Place(index) : nil }
  }
}
