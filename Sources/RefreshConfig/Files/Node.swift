import CTomlPlusPlus

/// A value of a TOML document, with its line.
struct Node {
  enum Value {
    case string(String)
    case integer(Int64)
    case boolean(Bool)
    case float(Double)
    case time
    case array([Node])
    case table([Entry])
  }

  /// A key of a table and its value.
  struct Entry {
    let key: String
    let node: Node
  }

  /// The line of the key, or of an array's element; from 1.
  let line: Int
  let value: Value

  /// The type of the value, for messages.
  var kind: String {
    switch value {
    case .string: "a string"
    case .integer: "an integer"
    case .boolean: "a boolean"
    case .float: "a decimal number"
    case .time: "a date or time"
    case .array: "an array"
    case .table: "a table"
    }
  }
}

extension Node {
  /// Reads a whole document.
  static func entries(ofDocument bytes: UnsafeBufferPointer<CChar>) throws(SyntaxError) -> [Entry] {
    var error = toml_error()
    let visited = VisitedItems()
    let isRead = toml_read(
      bytes.baseAddress, bytes.count, Unmanaged.passUnretained(visited).toOpaque(),
      { context, item in
        guard let context, let item else { return }
        Unmanaged<VisitedItems>.fromOpaque(context).takeUnretainedValue().items.append(VisitedItems.Item(item.pointee))
      }, &error)
    guard isRead else {
      let description = withUnsafeBytes(of: error.description) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      let (line, column) = (Int(error.line), Int(error.column))
      throw SyntaxError(
        description, line: line > 0 ? line : nil, column: column > 0 ? column : nil,
        isAtEndOfLine: bytes.isEnd(ofLine: line, column: column))
    }
    var next = 0
    guard case .table(let entries) = visited.node(at: &next).value else { return [] }
    return entries
  }
}

/// Collects the items of a document in the order in which they are visited: each table and array before its contents.
private final class VisitedItems {
  struct Item {
    let line: Int
    let key: String
    let value: Node.Value
    let count: Int

    init(_ item: toml_item) {
      line = Int(item.line)
      key = Self.string(item.key, item.key_length)
      count = item.count
      value =
        switch item.kind {
        case .string: .string(Self.string(item.text, item.text_length))
        case .integer: .integer(item.integer)
        case .boolean: .boolean(item.boolean)
        case .float: .float(item.number)
        case .array: .array([])
        case .table: .table([])
        case .time: .time
        }
    }

    private static func string(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
      String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    }
  }

  var items: [Item] = []

  func node(at next: inout Int) -> Node {
    let item = items[next]
    next += 1
    switch item.value {
    case .array:
      return Node(line: item.line, value: .array((0..<item.count).map { _ in node(at: &next) }))
    case .table:
      let entries = (0..<item.count).map { _ in Node.Entry(key: items[next].key, node: node(at: &next)) }
      return Node(line: item.line, value: .table(entries))
    default:
      return Node(line: item.line, value: item.value)
    }
  }
}

extension [Node.Entry] {
  /// Whether all keys and texts of a table are ASCII.
  var isASCII: Bool { allSatisfy { $0.key.isASCII && $0.node.isASCII } }
}

extension Node {
  fileprivate var isASCII: Bool {
    switch value {
    case .string(let text): text.isASCII
    case .array(let nodes): nodes.allSatisfy(\.isASCII)
    case .table(let entries): entries.isASCII
    case .integer, .boolean, .float, .time: true
    }
  }
}

extension String {
  fileprivate var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }
}

/// A value of TOML as JSON, for settings that another program reads.
extension Node {
  /// The JSON text; throws for a date or time and for a number that is not finite, which JSON does not have.
  func json() throws(Unreadable) -> String {
    switch value {
    case .string(let text): return Self.json(text)
    case .integer(let number): return "\(number)"
    case .boolean(let flag): return "\(flag)"
    case .float(let number):
      guard number.isFinite else { throw Self.noJSON("a number that is not finite") }
      return "\(number)"
    case .time: throw Self.noJSON("a date or time")
    case .array(let elements):
      var texts: [String] = []
      for element in elements { texts.append(try element.json()) }
      return "[\(texts.joined(separator: ","))]"
    case .table(let entries):
      var texts: [String] = []
      for entry in entries { texts.append("\(Self.json(entry.key)):\(try entry.node.json())") }
      return "{\(texts.joined(separator: ","))}"
    }
  }

  private static func noJSON(_ what: String) -> Unreadable {
    Unreadable("cannot write \(what) in JSON", remedy: "write it as a string, in quotes")
  }

  private static func json(_ text: String) -> String {
    var json = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": json += "\\\(scalar)"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: json.unicodeScalars.append(scalar)
      }
    }
    return json + "\""
  }
}

/// The reason why a text is not TOML.
struct SyntaxError: Error {
  let line: Int?
  let column: Int?
  let description: String
  let remedy: String

  /// Makes an error from toml++'s message; the most frequent mistakes get a plainer one.
  init(_ words: String, line: Int?, column: Int?, isAtEndOfLine: Bool) {
    (self.line, self.column) = (line, column)
    let manual = "toml.io explains the syntax"
    if isAtEndOfLine, words.hasSuffix("explicitly prohibited") {
      (description, remedy) = ("a string is not closed on its line", "add the closing quote")
    } else if ["value", "boolean", "floating-point", "decimal integer: expected"].contains(where: {
      words.hasPrefix("Error while parsing \($0)")
    }) {
      description = words
      remedy = #"put text in quotes, as in "any" or "5min", but not true or false; \#(manual)"#
    } else {
      (description, remedy) = (words, manual)
    }
  }
}

extension UnsafeBufferPointer<CChar> {
  /// Whether a line ends at a column, which counts characters from 1.
  fileprivate func isEnd(ofLine line: Int, column: Int) -> Bool {
    let lines = split(separator: CChar(bitPattern: UInt8(ascii: "\n")), omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return false }
    let text = String(decoding: lines[line - 1].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return column > (text.last == "\r" ? text.unicodeScalars.count - 1 : text.unicodeScalars.count)
  }
}
