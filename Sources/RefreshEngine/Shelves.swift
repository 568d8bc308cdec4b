/// The apps in order of an instant each, on shelves of bounded length: to put one in or take one out, and to find the
/// last before an instant, looks at one shelf only.
struct Shelves {
  struct Entry: Comparable {
    var at: Instant
    var place: Place

    static func < (left: Entry, right: Entry) -> Bool {
      left.at != right.at ? left.at < right.at : left.place < right.place
    }
  }

  /// A shelf that grows to this is halved: what moves within one at a change is a few kilobytes at most.
  private static let longest = 512

  /// None is empty, and each ends before the next begins.
  private var shelves: [[Entry]] = []

  /// The first entry.
  var first: Entry? { shelves.first?.first }

  /// The last entry whose instant is not after another one.
  func last(notAfter instant: Instant) -> Entry? {
    let last = Entry(at: instant, place: .max)
    guard let shelf = shelf(of: last) else { return nil }
    let end = Self.firstIndex(in: shelves[shelf]) { $0 > last }
    return end > 0 ? shelves[shelf][end - 1] : nil
  }

  /// Takes an app from its instant to another; nil for none.
  mutating func move(_ place: Place, from before: Instant?, to instant: Instant?) {
    guard before != instant else { return }
    if let before { remove(Entry(at: before, place: place)) }
    if let instant { insert(Entry(at: instant, place: place)) }
  }

  private mutating func insert(_ entry: Entry) {
    guard let shelf = shelf(of: entry) else {
      shelves.append([entry])
      return
    }
    shelves[shelf].insert(entry, at: Self.firstIndex(in: shelves[shelf]) { $0 >= entry })
    guard shelves[shelf].count == Self.longest else { return }
    let rest = Array(shelves[shelf].suffix(Self.longest / 2))
    shelves[shelf].removeLast(rest.count)
    shelves.insert(rest, at: shelf + 1)
  }

  private mutating func remove(_ entry: Entry) {
    guard let shelf = shelf(of: entry) else { return }
    let place = Self.firstIndex(in: shelves[shelf]) { $0 >= entry }
    guard place < shelves[shelf].count, shelves[shelf][place] == entry else { return }
    shelves[shelf].remove(at: place)
    if shelves[shelf].isEmpty { shelves.remove(at: shelf) }
  }

  /// The shelf on which an entry stands, or would: the last that begins before it, else the first; nil without any.
  private func shelf(of entry: Entry) -> Int? {
    guard !shelves.isEmpty else { return nil }
    return max(0, Self.firstIndex(in: shelves) { shelf in shelf.first.map { $0 > entry } ?? false } - 1)
  }

  /// The first place from which on all elements are as asked for; they are in order.
  private static func firstIndex<Element>(in elements: [Element], where isAsked: (Element) -> Bool) -> Int {
    var (low, high) = (0, elements.count)
    while low < high {
      let middle = (low + high) / 2
      if isAsked(elements[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
