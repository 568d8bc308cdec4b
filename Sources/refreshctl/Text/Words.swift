import RefreshAPI

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
  /// The phase, to follow "is".
  var words: String {
    switch self {
    case .foreground: "in the foreground"
    case .background: "in the background"
    case .loggedOut: "logged out"
    }
  }
}

extension Wire.Phase {
  /// The phase of an app after a signal, and the other effect of the signal.
  func sentence(of app: String, after signal: Wire.LifecycleSignal) -> String {
    let state = "\(printable(app)) is \(words)"
    guard signal == .terminated, self != .loggedOut else { return state + "." }
    return self == .foreground
      ? "\(state): a process holds it there; its pushes wait until its next start."
      : "\(printable(app)) is marked as quit by the user; its pushes wait until its next start."
  }
}

extension [String] {
  /// The first five elements, and the number of the others: `a, b, c, d, e, and 7 more`.
  var firstFive: String { prefix(5).joined(separator: ", ") + (count > 5 ? ", and \(count - 5) more" : "") }
}

extension [Wire.Hold] {
  /// The names of the holds: `network, power`.
  var names: String { map { printable($0.name) }.joined(separator: ", ") }

  /// The holds and their remedies: `logged-out (refreshctl login org.example.todo)`.
  var namesAndRemedies: String { map { printable("\($0.name) (\($0.remedy))") }.joined(separator: ", ") }
}

extension Wire.Wait {
  /// The length of the wait: `2 h`.
  var span: String { Elapsed.rough(max(0, untilMicroseconds - sinceMicroseconds)) }
}

/// The name and the id of an app, because two apps may have the same name: `Mail (org.example.mail)`.
func named(_ name: String, _ id: String) -> String {
  name == id ? printable(id) : "\(printable(name)) (\(printable(id)))"
}

/// A number of things: `1 app`, `2 apps`.
func count(_ number: Int, _ one: String, _ many: String? = nil) -> String {
  "\(number) \(number == 1 ? one : many ?? one + "s")"
}

/// The text with leading spaces, up to a number of columns.
func rightAligned(_ text: String, columns: Int) -> String {
  String(repeating: " ", count: max(0, columns - text.count)) + text
}

/// The text of another program, made safe for a terminal.
///
/// Control characters could move the cursor or change the terminal's title. Characters that change the writing direction,
/// and invisible characters, could make a line look like another one.
func printable(_ text: String) -> String {
  String(
    String.UnicodeScalarView(
      text.unicodeScalars.map { $0.isPrintable ? $0 : $0 == "\t" ? " " : "\u{FFFD}" }))
}
