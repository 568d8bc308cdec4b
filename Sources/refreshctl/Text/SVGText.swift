/// An SVG document, built element by element.
struct SVGText {
  /// The point of a text that its position refers to.
  enum Anchor: String {
    case start, middle
  }

  private var lines: [String]

  var text: String { lines.joined(separator: "\n") + "\n</svg>\n" }

  /// Begins a document with its title, its description for screen readers, and its stylesheet.
  init(width: Double, height: Double, title: String, description: String, style: String) {
    let (width, height) = (pixels(width), pixels(height))
    lines = [
      #"<svg xmlns="http://www.w3.org/2000/svg" width="\#(width)" height="\#(height)" "#
        + #"viewBox="0 0 \#(width) \#(height)" role="img" aria-labelledby="title description">"#,
      "<title id=\"title\">\(Self.escaped(title))</title>",
      "<desc id=\"description\">\(Self.escaped(description))</desc>",
      "<style>\n\(style)\n</style>",
    ]
  }

  mutating func line(_ name: String, from: (x: Double, y: Double), to: (x: Double, y: Double)) {
    lines.append(
      #"<path class="\#(name)" d="M\#(pixels(from.x)) \#(pixels(from.y))L\#(pixels(to.x)) \#(pixels(to.y))"/>"#)
  }

  mutating func rectangle(
    _ name: String, x: Double, y: Double, width: Double, height: Double, tooltip: String? = nil
  ) {
    let size = #"width="\#(pixels(width))" height="\#(pixels(height))""#
    add(#"rect class="\#(name)" x="\#(pixels(x))" y="\#(pixels(y))" \#(size)"#, "rect", tooltip)
  }

  mutating func path(_ name: String, _ path: String, tooltip: String? = nil) {
    add(#"path class="\#(name)" d="\#(path)""#, "path", tooltip)
  }

  mutating func text(
    _ name: String, x: Double, y: Double, _ text: String, anchor: Anchor = .start, tooltip: String? = nil
  ) {
    let position = #"x="\#(pixels(x))" y="\#(pixels(y))" text-anchor="\#(anchor.rawValue)""#
    let title = tooltip.map { "<title>\(Self.escaped($0))</title>" } ?? ""
    lines.append(#"<text class="\#(name)" \#(position)>\#(title)\#(Self.escaped(text))</text>"#)
  }

  private mutating func add(_ element: String, _ name: String, _ tooltip: String?) {
    guard let tooltip else { return lines.append("<\(element)/>") }
    lines.append("<\(element)><title>\(Self.escaped(tooltip))</title></\(name)>")
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
  }
}

/// A length, rounded to tenths of a pixel.
func pixels(_ length: Double) -> String {
  let tenths = Int((length * 10).rounded())
  let sign = tenths < 0 ? "-" : ""
  let (whole, part) = abs(tenths).quotientAndRemainder(dividingBy: 10)
  return part == 0 ? "\(sign)\(whole)" : "\(sign)\(whole).\(part)"
}
