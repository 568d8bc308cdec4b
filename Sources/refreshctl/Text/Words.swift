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

/// Amounts of data for people, in powers of ten.
enum ByteCount {
  /// An amount: `999 B`, `1.2 kB`, `52 kB`, `3.4 MB`.
  static func text(_ bytes: Int64) -> String {
    var amount = Double(bytes)
    for unit in ["B", "kB", "MB"] {
      if amount < 999.5 { return text(amount, unit) }
      amount /= 1000
    }
    return text(amount, "GB")
  }

  private static func text(_ amount: Double, _ unit: String) -> String {
    guard unit != "B", amount < 9.95 else { return "\(Int(amount.rounded())) \(unit)" }
    let tenths = Int((amount * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) \(unit)"
  }
}

enum Decimal {
  /// About three significant digits: `0.03`, `6.5`, `120`.
  static func text(_ number: Double) -> String {
    let scale: Double = number >= 99.95 ? 1 : number >= 9.995 ? 10 : 100
    let rounded = (number * scale).rounded() / scale
    return rounded == rounded.rounded() && abs(rounded) < 1e15 ? "\(Int64(rounded))" : "\(rounded)"
  }

  /// A rate: `6.5 times a day`, `once a day`.
  static func timesADay(_ number: Double) -> String {
    let amount = text(number)
    return amount == "1" ? "once a day" : "\(amount) times a day"
  }
}

/// A number with a comma before each group of three digits: `1,440`.
func grouped(_ number: Int) -> String {
  var text = ""
  for (index, digit) in String(number).reversed().enumerated() {
    if index > 0, index % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return String(text.reversed())
}

/// Shows the done share of some work, as a bar and in percent.
enum ProgressBar {
  /// A bar of a given width: `██████▌░░░`.
  ///
  /// `share` goes from 0 to 1. The bar is full only when all work is done, and empty only when none is.
  static func text(_ share: Double, columns: Int) -> String {
    let halves = min(max(share, 0), 1) * Double(columns * 2)
    let drawn = share < 1 && halves > 0 ? min(max(1, Int(halves)), columns * 2 - 1) : Int(halves)
    let full = String(repeating: "█", count: drawn / 2)
    let half = drawn % 2 == 1 ? "▌" : ""
    return full + half + String(repeating: "░", count: columns - drawn / 2 - drawn % 2)
  }

  /// The share in percent, 100 only when all work is done: ` 52 %`.
  static func percent(_ share: Double) -> String {
    let percent = share >= 1 ? 100 : min(99, Int(max(share, 0) * 100))
    return rightAligned("\(percent)", columns: 3) + " %"
  }
}
