extension String {
  /// The number of letters to add, remove or replace to get the other text (Levenshtein distance).
  public func edits(to other: String) -> Int {
    let letters = Array(other.unicodeScalars)
    var row = Array(0...letters.count)
    for (above, letter) in unicodeScalars.enumerated() {
      var diagonal = row[0]
      row[0] = above + 1
      for column in letters.indices {
        let replaced = diagonal + (letters[column] == letter ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, diagonal + 1)
      }
    }
    return row[letters.count]
  }
}
