/// The layout of a value as JSON text.
public enum JSONLayout: Sendable {
  /// An indented document.
  case document
  /// A line of a stream.
  case line
}

/// The error of a value with a number that JSON cannot hold, such as infinity.
public struct UnwritableNumber: Error, CustomStringConvertible {
  /// A description for a person.
  public var description: String { "a number is infinite or none" }
}

extension JSONWritable {
  /// Returns the value as JSON text; equal values have equal text.
  public func jsonText(_ layout: JSONLayout) throws(UnwritableNumber) -> String {
    String(decoding: try jsonBytes(layout), as: UTF8.self)
  }

  /// Returns the value as the bytes of JSON text.
  public func jsonBytes(_ layout: JSONLayout = .line) throws(UnwritableNumber) -> [UInt8] {
    var json = JSONWriter()
    write(to: &json)
    guard !json.hasUnwritable else { throw UnwritableNumber() }
    return layout == .line ? json.bytes : indented(json.bytes)
  }
}

extension JSONReadable {
  /// Reads one JSON text, after which nothing may follow.
  public init(jsonText: [UInt8], mostLevels: Int = JSONReader.mostLevels) throws(JSONError) {
    // `withUnsafeBytes` cannot rethrow a typed error, so the error leaves as a value.
    let outcome = jsonText.withUnsafeBytes { bytes -> Result<Self, JSONError> in
      do throws(JSONError) {
        var json = JSONReader(bytes, mostLevels: mostLevels)
        let value = try Self(from: &json)
        try json.end()
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    self = try outcome.get()
  }
}

/// Indents JSON: a member or an element a line, two spaces a level.
private func indented(_ json: [UInt8]) -> [UInt8] {
  var text: [UInt8] = []
  var level = 0
  var isInString = false
  var isEscaped = false
  func newLine() {
    text.append(UInt8(ascii: "\n"))
    text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
  }
  for (index, byte) in json.enumerated() {
    if isInString {
      text.append(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      continue
    }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      text.append(byte)
      level += 1
      // An empty list or object has an empty line, as Foundation's encoder writes it.
      if json[index + 1] == byte + 2 { text.append(UInt8(ascii: "\n")) } else { newLine() }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      level -= 1
      newLine()
      text.append(byte)
    case UInt8(ascii: ","):
      text.append(byte)
      newLine()
    case UInt8(ascii: ":"): text.append(contentsOf: " : ".utf8)
    default:
      isInString = byte == UInt8(ascii: "\"")
      text.append(byte)
    }
  }
  return text
}
