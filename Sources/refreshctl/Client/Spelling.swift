/// How alike two texts are, to guess what a mistyped word means.
enum Spelling {
  /// The texts that look like a mistyped one, the nearest first, three at most.
  static func texts(like text: String, among known: [String]) -> [String] {
    let near = known.compactMap { one in distance(of: text, to: one).map { (distance: $0, text: one) } }
    return near.sorted { $0 < $1 }.prefix(3).map(\.text)
  }

  /// How many characters a mistyped text has to change to become another; nil if those are too many to be a mistake.
  static func distance(of text: String, to other: String) -> Int? {
    let text = Array(text.lowercased())
    let distance = levenshtein(text, Array(other.lowercased()))
    return distance <= (text.count < 4 ? 1 : max(2, text.count / 3)) ? distance : nil
  }

  /// How many characters one text has to change, to lose or to get to become the other.
  private static func levenshtein(_ one: [Character], _ other: [Character]) -> Int {
    var row = Array(0...other.count)
    for (index, character) in one.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in other.indices {
        let change = diagonal + (other[column] == character ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(change, row[column] + 1, diagonal + 1)
      }
    }
    return row[other.count]
  }
}
