import RefreshAPI

/// Guesses what a mistyped word means.
enum Suggestions {
  /// The texts similar to a mistyped one, the nearest first, at most three.
  static func texts(like text: String, among known: [String]) -> [String] {
    let near = known.compactMap { one in distance(of: text, to: one).map { (distance: $0, text: one) } }
    return near.sorted { $0 < $1 }.prefix(3).map(\.text)
  }

  /// The number of edits from a mistyped text to another; nil if there are too many for a mistake.
  static func distance(of text: String, to other: String) -> Int? {
    let distance = text.lowercased().edits(to: other.lowercased())
    return distance <= (text.count < 4 ? 1 : max(2, text.count / 3)) ? distance : nil
  }
}
