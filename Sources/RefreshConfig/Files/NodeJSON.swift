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
