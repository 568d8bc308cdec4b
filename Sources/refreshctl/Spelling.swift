import ArgumentParser
import RefreshAPI

/// The words of the wire as people see and write them: `new_data` is `new-data`.
extension RawRepresentable<String> {
  /// The word with hyphens.
  var spelled: String { String(rawValue.map { $0 == "_" ? "-" : $0 }) }
}

/// A word of an enum of the wire as an argument, read in people's spelling.
struct Spelled<Word>: ExpressibleByArgument
where Word: RawRepresentable<String> & CaseIterable & Sendable {
  /// The word of the wire.
  let word: Word

  init?(argument: String) {
    guard let word = Word.allCases.first(where: { $0.spelled == argument }) else { return nil }
    self.word = word
  }

  static var allValueStrings: [String] { Word.allCases.map(\.spelled) }
}

extension Wire.Outcome {
  /// The outcome in a sentence.
  var words: String {
    switch self {
    case .newData: "new data"
    case .noData: "no data"
    case .failed: "failed"
    }
  }
}

extension Wire.Phase {
  /// The phase behind "is".
  var words: String {
    switch self {
    case .foreground: "in the foreground"
    case .background: "in the background"
    case .loggedOut: "logged out"
    }
  }
}

/// A number of things: `1 app`, `2 apps`.
func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(number) \(number == 1 ? one : many ?? one + "s")"
}

/// Text of another program, safe to show: a control character could move the cursor or change the terminal's title, and
/// one that turns the direction of writing round shows a line as another one.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { scalar in
        let isShown = scalar.properties.generalCategory != .control && !scalar.properties.isBidiControl
        return isShown ? scalar : scalar == "\t" ? " " : "\u{FFFD}"
      }))
}
